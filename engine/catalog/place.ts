/** Properties in which the places of entities differ, for code that must not depend on a particular place. */
export interface Place {
  /** True for this store: its rows, indexes and commit log. */
  readonly isStore: boolean
  /** True if texts of keys are compared letter by letter, otherwise by their folds. */
  readonly exactTexts: boolean
  /** True if unique texts other than keys are compared in this way, too. */
  readonly exactUniques: boolean
  /** True if an object attribute may have any JSON as its value, not only objects and arrays. */
  readonly anyJson: boolean
  /** True if the place may have values that do not fit their attribute, and are read as null. */
  readonly unfitValues: boolean
  /** True if the refusal of a new entity with several problems reveals whether its key exists. */
  readonly tellsKeys: boolean
  /** True if other servers have the same entities. */
  readonly isShared: boolean
}

export const IN_STORE: Place = {
  isStore: true,
  exactTexts: false,
  exactUniques: false,
  anyJson: false,
  unfitValues: false,
  tellsKeys: true,
  isShared: false,
}

/** Place of entities in an existing table. */
export const IN_DATABASE: Place = {
  isStore: false,
  exactTexts: true,
  exactUniques: true,
  anyJson: true,
  unfitValues: true,
  tellsKeys: false,
  isShared: true,
}

/** Place of entities in a table that the server creates. */
export const IN_OWNED_TABLE: Place = { ...IN_DATABASE, exactUniques: false }
