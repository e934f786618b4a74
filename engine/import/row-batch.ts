import { setImmediate as nextTurn } from 'node:timers/promises'
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

/** Characters that are encoded in one turn of the event loop, in a millisecond, because the thread also serves requests. */
const CHARACTERS_PER_TURN = 64 * 1024

/** @param texts an empty one is not read, nor one that could not be decoded */
export async function rowBatch(format: RowFormat, texts: readonly string[]): Promise<RowBatch> {
  const ends = new Uint32Array(texts.length)
  const parts: string[] = []
  let byteCount = 0
  for (let start = 0; start < texts.length; ) {
    let some = textsOfTurn(texts, start)
    // A lone surrogate cannot be encoded.
    if (hasUndecodable(some.join(''))) some = some.map(text => (hasUndecodable(text) ? '' : text))
    const part = some.join('')
    const isAscii = Buffer.byteLength(part) === part.length
    for (const text of some) ends[start++] = byteCount += isAscii ? text.length : Buffer.byteLength(text)
    parts.push(part)
    await nextTurn()
  }
  const bytes = Buffer.from(new SharedArrayBuffer(byteCount))
  let at = 0
  for (const part of parts) {
    at += bytes.write(part, at)
    await nextTurn()
  }
  return { format, bytes, ends }
}

function textsOfTurn(texts: readonly string[], start: number): readonly string[] {
  let end = start
  for (let characters = 0; end < texts.length && characters < CHARACTERS_PER_TURN; end++)
    characters += texts[end]!.length
  return texts.slice(start, end)
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
