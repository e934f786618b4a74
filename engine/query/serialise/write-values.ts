import type { QueryContext } from '../operators/query-context.ts'
import { sortPositions, topPositions } from '../execute/top-n.ts'
import { finishAnswer, startAnswer } from './answer.ts'
import { type Aggregation, aggregate } from '../aggregate/aggregate.ts'
import type { Measure } from '../aggregate/measure.ts'
import { itemText } from '../aggregate/read-values.ts'
import { countRemote, fetchValues, isRemote, type Selected } from '../aggregate/selected.ts'
import { distinctValues } from '../aggregate/summarise.ts'
import { compareItems } from '../aggregate/summary.ts'

export interface ValuesOptions {
  readonly maxAnswerBytes: number
  readonly pretty: boolean
}

/**
 * Writes the answer with aggregates, as UTF-8 JSON. Without a measure it is the number of entities.
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
  selection: Selected,
  context: QueryContext,
  options: ValuesOptions,
): Uint8Array {
  if (measures.length === 0) {
    const count = isRemote(selection) ? countRemote(selection, context) : selection.size
    return answer([String(count)], options, context)
  }
  // By name: an attribute that is named twice appears once.
  const results = new Map<string, string>()
  for (const measure of measures) {
    if (results.has(measure.name)) continue
    const texts = aggregate(measure, aggregation, selection, context)
    const [only] = texts.values()
    results.set(measure.name, aggregation.function === 'all' ? objectText(texts) : only!)
  }
  const [bareValue] = results.values()
  const isBare = results.size === 1 && aggregation.function !== 'all'
  return answer([isBare ? bareValue! : objectText(results)], options, context)
}

const objectText = (members: ReadonlyMap<string, string>): string =>
  `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`

/**
 * Writes the answer with the distinct values of a measure: a JSON array, ascending. With `counted` each value has the number of
 * its rows, `{"value":…,"count":…}`, and the most frequent values come first.
 * @throws {SerialiseErrors.ANSWER_TOO_LARGE}
 * Source: protocol notes, 6.7.
 */
export function writeDistinct(
  measure: Measure,
  page: { skip: number; count: number; counted?: boolean },
  selection: Selected,
  context: QueryContext,
  options: ValuesOptions,
): Uint8Array {
  const { values, rowIds, counts } = distinctValues(measure, selection, context)
  const order = (a: number, b: number) => {
    context.budget.step()
    return (page.counted ? counts[b]! - counts[a]! : 0) || compareItems(values[a]!, values[b]!)
  }
  const end = Math.min(page.skip + page.count, values.length)
  const positions = end < values.length ? topPositions(values.length, end, order) : sortPositions(values.length, order)
  if (isRemote(selection) && measure.values !== 'number') {
    const pageIds = Array.from(positions.slice(page.skip, end), position => rowIds[position]!)
    fetchValues(measure, pageIds, context)
  }
  return answer(elements(), options, context)

  function* elements() {
    yield '['
    for (let i = page.skip; i < end; i++) {
      context.budget.step()
      const position = positions[i]!
      const value = itemText(values[position]!, rowIds[position]!, measure, context)
      const element = page.counted ? `{"value":${value},"count":${counts[position]}}` : value
      yield i === page.skip ? element : `,${element}`
    }
    yield ']'
  }
}

function answer(
  parts: Iterable<string>,
  { maxAnswerBytes, pretty }: ValuesOptions,
  { sink }: QueryContext,
): Uint8Array {
  const shape = { maxBytes: maxAnswerBytes, pretty }
  const out = startAnswer(shape, sink)
  out.open()
  for (const part of parts) out.text(part)
  return finishAnswer()
}
