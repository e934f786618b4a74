import { fold } from '../base/text/fold.ts'
import type { StorageModel } from '../catalog/model-schema.ts'

/** A column that may be the key. */
interface KeyColumn {
  readonly attribute: string
  readonly model: StorageModel
  readonly values: readonly unknown[]
}

/** A key as names and values of columns suggest it. */
interface ProposedKey {
  /** Undefined if a new attribute is to number the entities. */
  readonly key: string | undefined
  /** Attributes of which each could be the key for the same reason; empty if there is a key, or no reason for one. */
  readonly rivals: readonly string[]
  /** Attributes without nulls and repetitions. */
  readonly unique: readonly string[]
}

/** Attributes with these names identify the entity, whatever else does. */
const IDENTITY = /^(?:_?id|key|uuid|guid)$/i
const KEY_NAME = /^(?:code|number|no|nr|sku|isbn|ean)$/i
/** The key of another dataclass, which may repeat in a later file. */
const FOREIGN_NAME = /(?:ID|Id|Key|_id|_key)$/
const KEY_TYPES: readonly string[] = ['long', 'long64', 'string', 'uuid']
const MAX_KEY_LENGTH = 100

/**
 * Chooses a key. Unique values are not enough: in a small file nearly every column has them, and a key would reject the first repetition in
 * a later file. Either the name is one of a key, or the values are codes.
 * @param isWhole true if the columns have all values of the file; otherwise values prove nothing
 */
export function proposeKey(columns: readonly KeyColumn[], className: string, isWhole: boolean): ProposedKey {
  const unique = columns.filter(isUnique)
  const names = unique.map(({ attribute }) => attribute)
  const own = `${className}id`.toLowerCase()
  const identity = names.find(name => IDENTITY.test(name) || name.replaceAll('_', '').toLowerCase() === own)
  if (identity !== undefined) return { key: identity, rivals: [], unique: names }
  const named = names.filter(name => KEY_NAME.test(name))
  const codes = isWhole ? unique.filter(hasCodes).map(({ attribute }) => attribute) : []
  const candidates = named.length > 0 ? named : codes
  return candidates.length === 1
    ? { key: candidates[0], rivals: [], unique: names }
    : { key: undefined, rivals: candidates, unique: names }
}

/** True for a column without nulls whose values differ. */
function isUnique({ values, model }: KeyColumn): boolean {
  if (!KEY_TYPES.includes(model.type) || values.length === 0) return false
  return values.every(isKeyValue) && new Set(values.map(value => fold(String(value).trim()))).size === values.length
}

const isKeyValue = (value: unknown): boolean => {
  const text = value === null || value === undefined ? '' : String(value)
  return text.trim() !== '' && text.length <= MAX_KEY_LENGTH && text.isWellFormed()
}

/** Letters of codes are capitals, so that names are none: `ZRH`, `DE-0042`. */
const CODE = /^(?=.*\p{Lu})[\p{Lu}\p{N}][\p{Lu}\p{N}._/-]{1,35}$/u

/** True for UUIDs, and for codes that are equally long or have a digit each. */
function hasCodes({ attribute, values, model }: KeyColumn): boolean {
  if (values.length < 2 || FOREIGN_NAME.test(attribute)) return false
  if (model.type === 'uuid') return true
  const texts = values.map(value => String(value).trim())
  if (model.type !== 'string' || !texts.every(text => CODE.test(text))) return false
  return texts.every(text => text.length === texts[0]!.length) || texts.every(text => /\p{N}/u.test(text))
}
