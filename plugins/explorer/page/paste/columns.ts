/** Mapping of the columns of a table to attributes. */
import type { Attribute, DataClass } from '../base/model.ts'
import { plainName } from '../base/plain-name.ts'
import { editorOf, type Input, read } from '../entity/editor.ts'
import type { Cells } from './table.ts'

/** Header of the column with the errors of a report; ignored when the report is pasted. */
export const ERROR_COLUMN = '__ERROR'

/** Attributes to which columns can be mapped: all assignable ones, the key, and relations by the key of the related entity. */
export const targetsOf = ({ attributes }: DataClass): readonly Attribute[] =>
  attributes.filter(each => {
    const editor = each.identifying ? 'text' : editorOf(each, true)
    return editor !== undefined && editor !== 'image' && editor !== 'blob'
  })

export interface Mapping {
  /** True if the first row has names. */
  readonly hasHeader: boolean
  /** Name of the attribute of each column; empty for none. */
  readonly attributes: readonly string[]
}

/** Maps columns by the names in the first row; without names, by the order of the attributes. */
export function mapColumns(rows: readonly Cells[], dataClass: DataClass): Mapping {
  const targets = targetsOf(dataClass)
  const header = (rows[0] ?? []).map(cell => cell ?? '')
  const free = new Set(targets.map(({ name }) => name))
  const take = (isIt: (name: string) => boolean): string => {
    const name = [...free].find(isIt) ?? ''
    free.delete(name)
    return name
  }
  const exact = header.map(cell => take(name => plainName(name) === plainName(cell) && plainName(cell) !== ''))
  const isError = (cell: string): boolean => cell === ERROR_COLUMN
  if (exact.every(name => name === '')) {
    const inOrder = targets.filter(each => !each.autosequence && each.kind === 'storage')
    return { hasHeader: false, attributes: header.map((_, at) => inOrder[at]?.name ?? '') }
  }
  const attributes = exact.map((name, at) => {
    const cell = plainName(header[at]!)
    if (name !== '' || cell.length < 3 || isError(header[at]!)) return name
    return take(
      name => plainName(name).includes(cell) || (plainName(name).length > 2 && cell.includes(plainName(name))),
    )
  })
  return { hasHeader: true, attributes }
}

interface CellFault {
  readonly attribute: string
  readonly code: 'number' | 'integer' | 'date' | 'duration' | 'json' | 'vector' | 'bool'
  readonly cell: string
}

export interface ConvertedRow {
  /** Values as JSON, by attribute. */
  readonly values: ReadonlyMap<string, string>
  readonly faults: readonly CellFault[]
}

/**
 * Converts a row to the values of an entity. Empty cells are null; columns without an attribute are left out.
 * @param decimal as for `read`
 */
export function convertRow(
  cells: Cells,
  attributes: readonly (Attribute | undefined)[],
  decimal?: string,
): ConvertedRow {
  const values = new Map<string, string>()
  const faults: CellFault[] = []
  for (const [at, attribute] of attributes.entries()) {
    if (!attribute) continue
    const cell = cells[at] ?? null
    const input = inputOfCell(attribute, cell)
    const result = input === undefined ? ({ fault: { code: 'bool' } } as const) : read(attribute, input, decimal)
    if ('json' in result) values.set(attribute.name, result.json)
    else faults.push({ attribute: attribute.name, code: result.fault.code, cell: cell ?? '' })
  }
  return { values, faults }
}

const TRUE = /^(?:true|yes|y|1|x|ja|wahr|✓)$/i
const FALSE = /^(?:false|no|n|0|nein|falsch|✗)$/i

/** Content of a form field for a cell; undefined for a bool that is neither true nor false. */
function inputOfCell(attribute: Attribute, cell: string | null): Input | undefined {
  if (cell === null || attribute.type === 'string') return cell
  const text = cell.trim()
  if (text === '' || text === 'null') return null
  if (attribute.type === 'bool') return TRUE.test(text) ? true : FALSE.test(text) ? false : undefined
  if (attribute.kind === 'relatedEntity') return text
  if (attribute.type !== 'date') return text
  const german = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,?[ T](.+))?$/.exec(text)
  if (!german) return text
  const [, day = '', month = '', year = '', time] = german
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}${time && !attribute.simpleDate ? `T${time}` : ''}`
}
