import { stringifyExact } from '../base/exact-json.ts'
import { ownMember } from '../base/json-object.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { hasUndecodable } from './read-text.ts'
import type { ReadRow, RowFormat } from './row-reader.ts'

/** Texts of rows that are read together, in shared memory, which threads pass on without a copy. */
export interface RowBatch {
  readonly format: RowFormat
  /** The texts as UTF-8, one after the other. */
  readonly bytes: Uint8Array
  /** End of each row in `bytes`. */
  readonly ends: Uint32Array
}

/** @param texts an empty one is not read, nor one that could not be decoded */
export function rowBatch(format: RowFormat, texts: readonly string[]): RowBatch {
  const whole = texts.join('')
  // A lone surrogate cannot be encoded.
  if (hasUndecodable(whole))
    return rowBatch(
      format,
      texts.map(text => (hasUndecodable(text) ? '' : text)),
    )
  const bytes = Buffer.from(new SharedArrayBuffer(Buffer.byteLength(whole)))
  bytes.write(whole)
  const isAscii = bytes.length === whole.length
  let end = 0
  const ends = Uint32Array.from(texts, text => {
    end += isAscii ? text.length : Buffer.byteLength(text)
    return end
  })
  return { format, bytes, ends }
}

/**
 * Converts a row to an element of a save that creates an entity: `__KEY`, which rows from an answer of this protocol contain, would make it
 * a change of an existing entity.
 */
export function asNewEntity({ json, value }: ReadRow, { key }: DataClass): { json: string; value: unknown } {
  const sentKey = ownMember(value, '__KEY')
  if (sentKey === undefined) return { json, value }
  const keyMembers = ownMember(value, key.name) === undefined ? { __KEY: null, [key.name]: sentKey } : { __KEY: null }
  return { json: extend(json, keyMembers), value: { ...value, ...keyMembers } }
}

/** A row as a change of the entity with its key. */
export const asChange = (row: ReadRow, dataClass: DataClass, stamp: number): string =>
  extend(row.json, { __KEY: keyOf(row, dataClass), __STAMP: stamp })

/** Key of a row as it was read; undefined if it has none. */
export const keyOf = ({ value }: ReadRow, { key }: DataClass): unknown =>
  ownMember(value, key.name) ?? ownMember(value, '__KEY')

/** Adds properties to a JSON object. If two properties have the same name, the last one is used, so the existing text can stay. */
function extend(json: string, properties: Record<string, unknown>): string {
  const inner = json.slice(json.indexOf('{') + 1, json.lastIndexOf('}'))
  return `{${inner.trim() === '' ? '' : `${inner},`}${stringifyExact(properties).slice(1)}`
}
