import type { Value } from '../../catalog/value.ts'
import { quoteName } from './quote.ts'
import type { RemoteColumn } from './remote-table.ts'
import type { From } from './from.ts'
import { isStorable, type Parameters } from './parameters.ts'

/** Condition for keys of several columns that an index of these columns can serve. */
export function partsAmong(keys: readonly Value[], { table, alias }: From, { list }: Parameters): string {
  const columns = table.columns.get(table.dataClass.key)!
  const lists = keys
    .map(key => partsOf(String(key), columns.length))
    .filter(parts => parts?.every((part, i) => partFits(part, columns[i]!)))
  const keyColumns = columns.map(({ name, type }) => `${alias}.${quoteName(name)}${PARTS.has(type) ? '' : '::text'}`)
  const arrays = columns.map(({ type }, i) =>
    list(
      lists.map(parts => parts![i]!),
      PARTS.has(type) ? type : 'text',
    ),
  )
  return `(${keyColumns.join(', ')}) IN (SELECT * FROM unnest(${arrays.join(', ')}))`
}

const INTEGER = /^(?:0|-?[1-9]\d{0,18})$/
const fits = (bits: number) => (part: string) =>
  INTEGER.test(part) && BigInt.asIntN(bits, BigInt(part)) === BigInt(part)

/** Types whose values are compared with parts of keys without conversion if the part is spelled as the database writes it. */
const PARTS: ReadonlyMap<string, (part: string) => boolean> = new Map([
  ['int2', fits(16)],
  ['int4', fits(32)],
  ['int8', fits(64)],
  ['uuid', (part: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(part)],
  ['text', isStorable],
  ['varchar', isStorable],
])

const partFits = (part: string, { type }: RemoteColumn): boolean => (PARTS.get(type) ?? isStorable)(part)

/** Parts of a key of several columns; undefined for a text that is not in the only valid form of such a key. */
export function partsOf(key: string, count: number): string[] | undefined {
  const parts = ['']
  for (const [character] of key.matchAll(/\\[~\\]|[\s\S]/g)) {
    if (character === '\\') return undefined
    if (character === '~') parts.push('')
    else parts[parts.length - 1] += character.length > 1 ? character.slice(1) : character
  }
  return parts.length === count ? parts : undefined
}
