import { basename } from 'node:path'
import { quantity } from '../../engine/base/counted.ts'
import { excerpt } from '../../engine/base/text/excerpt.ts'
import { cellText, type FileSample, type Misfit, type ProposedClass } from '../../engine/command-line.ts'
import type { Related } from './new-relations.ts'
import { textTable } from './text-table.ts'

/** Values of a column that its attribute cannot hold; at least one. */
export interface ColumnMisfits {
  readonly attribute: string
  readonly column: string
  readonly all: readonly Misfit[]
  /** Option with which the first one could be read. */
  readonly hint: string | undefined
}

/** A dataclass that is proposed for a file. */
interface Proposal {
  readonly file: string
  readonly as: string
  readonly name: string
  readonly sample: FileSample
  readonly proposed: ProposedClass
  readonly relatedClass: Related
  readonly misfits: readonly ColumnMisfits[]
  readonly questions: readonly string[]
}

/** Shows a proposal to the user. */
export function showProposal(
  { file, as, name, sample, proposed, relatedClass, misfits, questions }: Proposal,
  print: (line: string) => void,
): void {
  const { key } = proposed.dataClass
  const { attributes } = relatedClass.dataClass
  const leadsTo = (attribute: string): string | undefined => {
    const { kind, type } = attributes[attribute]!
    return kind === 'relatedEntity' ? type : undefined
  }
  const nulls = new Set(proposed.nulls)
  const isNull = ({ type }: ProposedClass['columns'][number]['model'], value: unknown): boolean =>
    value === null || value === undefined || (type !== 'string' && typeof value === 'string' && nulls.has(value.trim()))
  const rows = sample.isWhole ? quantity(sample.rows, 'row') : `the first ${quantity(sample.rows, 'row')}`
  print(`${basename(file)}: ${as}; ${quantity(sample.columns.length, 'column')}, ${rows}`)
  for (const line of [...(sample.notes ?? []), ...questions]) print(`  ${line}`)
  const table = proposed.columns.map(({ column, attribute, model }) => [
    column.name,
    attribute ?? '(left out)',
    attribute === null ? '' : (leadsTo(attribute) ?? describeType(model)),
    attribute === null
      ? ''
      : leadsTo(attribute)
        ? 'relation'
        : attribute === key
          ? 'key'
          : 'indexed' in attributes[attribute]!
            ? 'indexed'
            : '',
    String(column.values.filter(value => isNull(model, value)).length),
    examplesOf(column.values.filter(value => !isNull(model, value))),
  ])
  for (const line of textTable(['column', 'attribute', 'type', '', 'nulls', 'examples'], table)) print(line)
  for (const [target, inverse] of relatedClass.inverses)
    print(`${target} gets ${inverse}, the reverse relation to ${name}.`)
  for (const { attribute, loss } of proposed.columns) if (loss !== undefined) print(`${attribute}: ${loss}.`)
  for (const { attribute, odd } of proposed.columns)
    if (odd !== undefined)
      print(
        `${attribute} is a string: ${odd}; correct it${sample.hasFields ? ', or give --nulls if it stands for null' : ''}.`,
      )
  if (proposed.newKey !== undefined)
    print(`${name} gets ${proposed.newKey}, which numbers its entities: ${whyNewKey(proposed)}`)
  for (const line of wrongRows({ name, sample, proposed, misfits })) print(line)
}

const POSSIBLE_KEYS = 3

function whyNewKey({ possibleKeys, rivalKeys }: ProposedClass): string {
  const [first] = possibleKeys
  if (rivalKeys.length > 0) return 'several columns could be the key.'
  if (first === undefined) return 'no column has unique values without nulls.'
  const some = possibleKeys.slice(0, POSSIBLE_KEYS).join(', ')
  return `no column has the name or the values of a key. Unique and without nulls: ${some}; --key ${first} makes one the key.`
}

const WRONG_ROWS = 3

/** Lists the rows of the sample that a load will reject, and the reasons. */
function* wrongRows({
  sample,
  proposed,
  misfits,
}: Pick<Proposal, 'name' | 'sample' | 'proposed' | 'misfits'>): Generator<string> {
  const { unreadable, isWhole } = sample
  const examples = unreadable.slice(0, WRONG_ROWS).map(({ line, reason }) => `line ${line}: ${reason}`)
  if (unreadable.length > 0)
    yield `${quantity(unreadable.length, 'row')} cannot be read and will be rejected: ${examples.join('; ')}`
  for (const { attribute, all } of misfits)
    yield `${quantity(all.length, 'row')} will be rejected: ${attribute} has ${JSON.stringify(excerpt(all[0]!.text))}: ${all[0]!.reason}`
  if (proposed.rowsWithoutKey > 0)
    yield `${quantity(proposed.rowsWithoutKey, 'row')} will be rejected: the key ${proposed.dataClass.key} is missing or repeated`
  if (!isWhole) yield 'Later rows that do not fit will be rejected, each with the reason.'
}

function describeType({ type, simpleDate, scale, dimension }: Record<string, unknown>): string {
  if (simpleDate) return 'date (day)'
  const size = scale ?? dimension
  return size === undefined ? String(type) : `${type}(${size})`
}

const EXAMPLES = 3
const MAX_EXAMPLE = 24

/** @param values without nulls */
function examplesOf(values: readonly unknown[]): string {
  const examples = new Set<string>()
  for (const value of values) {
    if (value === '') continue
    const text = cellText(value)
    examples.add(text.length > MAX_EXAMPLE ? `${text.slice(0, MAX_EXAMPLE - 1)}…` : text)
    if (examples.size === EXAMPLES) break
  }
  return [...examples].join(' · ')
}
