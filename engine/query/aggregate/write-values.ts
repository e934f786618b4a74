import type { RowSet } from '../../row-set/row-set.ts'
import type { QueryContext } from '../execute/evaluate.ts'
import { sortPositions, topPositions } from '../execute/top-n.ts'
import { ByteWriter } from '../serialise/byte-writer.ts'
import { indentJson } from '../serialise/indent-json.ts'
import { type Aggregation, aggregate } from './aggregate.ts'
import type { Measure } from './measure.ts'
import { itemText } from './read-values.ts'
import { distinctValues } from './summarise.ts'
import { compareItems } from './summary.ts'

export interface ValuesOptions {
  readonly maxAnswerBytes: number
  readonly pretty: boolean
}

/** The one buffer of this thread for such answers: each is a view of it, valid until the next one is started. */
const out = new ByteWriter()

/**
 * The answer with aggregates, as UTF-8 JSON. Without a measure it is the number of entities.
 *
 * | | one measure | several |
 * |---|---|---|
 * | one function | a bare value | a value for each measure, by name |
 * | all functions | `{name: {count, sum, average, min, max}}` | the same |
 *
 * Source: base specification, 4.6; protocol notes, 6.6.
 */
export function writeAggregates(
  measures: readonly Measure[],
  aggregation: Aggregation,
  rows: RowSet,
  context: QueryContext,
  options: ValuesOptions,
): Uint8Array {
  if (measures.length === 0) return answer([String(rows.size)], options)
  // By name: an attribute that is named twice is one.
  const results = new Map<string, string>()
  for (const measure of measures) {
    if (results.has(measure.name)) continue
    const texts = aggregate(measure, aggregation, rows, context)
    const [only] = texts.values()
    results.set(measure.name, aggregation.function === 'all' ? objectText(texts) : only!)
  }
  const [bare] = results.values()
  const isBare = results.size === 1 && aggregation.function !== 'all'
  return answer([isBare ? bare! : objectText(results)], options)
}

const objectText = (members: ReadonlyMap<string, string>): string =>
  `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`

/**
 * The answer with the different values of a measure: a JSON array, ascending.
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE}
 * Source: protocol notes, 6.7.
 */
export function writeDistinct(
  measure: Measure,
  page: { skip: number; count: number },
  rows: RowSet,
  context: QueryContext,
  options: ValuesOptions,
): Uint8Array {
  const found = distinctValues(measure, rows, context)
  const values = [...found.keys()]
  const rowIds = [...found.values()]
  const order = (a: number, b: number) => {
    context.budget.step()
    return compareItems(values[a]!, values[b]!)
  }
  const end = Math.min(page.skip + page.count, values.length)
  const positions = end < values.length ? topPositions(values.length, end, order) : sortPositions(values.length, order)
  return answer(elements(), options)

  function* elements() {
    yield '['
    for (let i = page.skip; i < end; i++) {
      context.budget.step()
      const position = positions[i]!
      yield `${i === page.skip ? '' : ','}${itemText(values[position]!, rowIds[position]!, measure, context)}`
    }
    yield ']'
  }
}

function answer(parts: Iterable<string>, { maxAnswerBytes, pretty }: ValuesOptions): Uint8Array {
  out.begin(maxAnswerBytes)
  for (const part of parts) out.text(part)
  if (!pretty) return out.since(0)
  const end = out.length
  indentJson(out.since(0), out)
  return out.since(end)
}
