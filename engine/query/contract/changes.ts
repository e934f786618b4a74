/** Place in the log, as plain data: after a record, and after some changes of the next one. */
export interface ChangePlace {
  /** Number of the record. */
  readonly sequence: number
  /** Hash of the record, in hex: it depends on all records before it. */
  readonly hash: string
  /** Number of effects of the next record that have been read. */
  readonly index: number
  /** Position of the next record in the files of the log, if known. */
  readonly segment?: number | undefined
  readonly offset?: number | undefined
}

export type ChangeKind = 'created' | 'updated' | 'deleted'

/** Changes of interest, of one dataclass. No rights apply. */
export interface ChangeSelection {
  readonly dataClass: string
  readonly kinds: readonly ChangeKind[]
  /** Query that the entity satisfies after the change, or before its deletion. */
  readonly filter?: string | undefined
  /** Attributes to read, as in `$attributes`; by default all of the entity that need no plugin code. */
  readonly attributes?: readonly string[] | undefined
}

export interface ChangesRequest {
  readonly selection: ChangeSelection
  readonly after: ChangePlace
  /** Maximum number of changes of a batch, which has at least one change if one exists. */
  readonly maxChanges: number
  readonly maxBytes: number
}

/** A change of an entity. */
export interface EntityChange {
  /** Place before the change. */
  readonly place: ChangePlace
  /** Identifies the change among all changes of all stores. */
  readonly id: string
  readonly kind: ChangeKind
  /** `__KEY` of the entity. */
  readonly key: string
  /** Time of the commit, in milliseconds since 1970. */
  readonly time: number
  /** JSON of the entity after the change, or before its deletion; undefined if there is a problem. */
  readonly entity: string | undefined
  /** Reason why the entity cannot be read, or the filter cannot be evaluated. */
  readonly problem?: string
}

/** Changes that follow a place. */
export interface ChangeBatch {
  readonly changes: readonly EntityChange[]
  /** Place at which the next batch begins. */
  readonly next: ChangePlace
  /** Sequence of the last commit, which `next` has reached when everything was read. */
  readonly last: number
  /** Records that have been removed from the log: the batch begins after them. */
  readonly gap?: { readonly from: number; readonly to: number }
  /** Number of deletions whose entities are unknown, since nothing followed the log then, or the model was different. */
  readonly unknown: number
}
