/** Figures of an attribute over the selection, computed by the server: no entities are transferred. */
import { type Attribute, INTEGERS, isRelation, NUMBERS, shapeOf } from '../base/model.ts'
import { conditionOn, addCondition, within } from '../base/condition.ts'
import { parseDate } from '../base/format.ts'
import { read } from '../base/rest.ts'
import { createSet, parametersOf, pathOf, type Selection } from '../base/selection.ts'
import {
  type Counted,
  countInRanges,
  dateRanges,
  durationRanges,
  numberRanges,
  type Range,
  type Step,
  stepOf,
} from './bins.ts'
import { inTurns } from './in-turns.ts'

/** Kinds of attributes by the figures that they admit; for `presence` only the number of values. */
type Kind = 'number' | 'duration' | 'date' | 'text' | 'bool' | 'presence'

const KINDS: Readonly<Record<string, Kind>> = {
  bool: 'bool',
  date: 'date',
  duration: 'duration',
  string: 'text',
  uuid: 'text',
}
/** Kind of an attribute. Multi-line texts are long and rarely equal: none of their values is transferred. */
export function kindOf(attribute: Attribute): Kind {
  if (isRelation(attribute) || attribute.multiLine) return 'presence'
  return NUMBERS.has(attribute.type) ? 'number' : (KINDS[shapeOf(attribute)] ?? 'presence')
}

/** Returns true if averages of the attribute are meaningful, unlike averages of keys. */
export const isNumber = (attribute: Attribute): boolean => kindOf(attribute) === 'number' && !attribute.identifying

interface Summary {
  /** Number of entities in the selection. */
  readonly total: number
  /** Number of entities that have a value. */
  readonly present: number
  readonly distinct?: number
  readonly min?: unknown
  readonly max?: unknown
  readonly average?: number | null
  readonly sum?: number | null
}

export const FUNCTIONS = ['average', 'sum', 'min', 'max'] as const
/** A figure that is shown for each group instead of its number of entities. */
export interface Measure {
  readonly function: (typeof FUNCTIONS)[number]
  readonly path: string
}

/** Entities with one value, or with values in a range. */
export interface Group {
  /** Common value, or the beginning of the range. */
  readonly value: unknown
  readonly range?: Range
  /** Condition that narrows the filter to the group; undefined for texts that are too long for one. */
  readonly condition: string | undefined
  readonly count: number
  /** Figure of the measure, if there is one. */
  readonly measured?: number | null
}

export interface Distribution {
  readonly summary: Summary
  readonly groups: readonly Group[]
  /** Step of a time series. */
  readonly step?: Step
}

interface Question {
  readonly path: string
  readonly attribute: Attribute
  readonly step: Step | undefined
  readonly measure: Measure | undefined
}

/** Called with the fraction of the work that is done, from 0 to 1. */
type Report = (progress: number) => void

const SET_SECONDS = 60
const BINS = 30
const TOP_VALUES = 20
/** Maximum number of values that one answer lists, so that it stays below 200 KB. */
const MAX_LISTED = 3_500
/** Maximum number of groups that are requested one by one. */
const MAX_ASKED = 120

/** @throws {RestError} */
export async function loadDistribution(
  selection: Selection,
  { path, attribute, step, measure }: Question,
  signal: AbortSignal,
  report: Report,
): Promise<Distribution> {
  const kind = kindOf(attribute)
  const source = await sourceOf(selection, signal)
  const summary = await loadSummary(source, path, attribute, signal)
  const question = { path, attribute, step, measure, kind, summary }
  const grouping = await loadGroups(source, question, signal, part => report(measure ? part / 2 : part))
  if (!measure) return { summary, ...grouping }
  const groups = await inTurns(
    grouping.groups,
    async group => ({
      ...group,
      measured:
        group.count > 0 && group.condition !== undefined
          ? await loadMeasure(source, group.condition, measure, signal)
          : null,
    }),
    part => report((1 + part) / 2),
  )
  return { summary, ...grouping, groups }
}

/** Path and filter of the entities whose figures are requested. */
interface Source {
  readonly path: string
  readonly filter: string
}

/** Source of a selection. With a similarity, an entity set: all vectors are compared once instead of by each request. */
const sourceOf = async (selection: Selection, signal: AbortSignal): Promise<Source> =>
  selection.similar
    ? { path: await createSet(selection, parametersOf(selection), SET_SECONDS, signal), filter: '' }
    : { path: pathOf(selection), filter: selection.filter }

async function loadSummary(source: Source, path: string, attribute: Attribute, signal: AbortSignal): Promise<Summary> {
  const kind = kindOf(attribute)
  // The minimum of texts without a maximum length could be as long as a book.
  const isLong = kind === 'text' && !attribute.indexed && attribute.maxLength === undefined
  const onlyCounts = kind === 'presence' || kind === 'bool' || isLong
  const [total, all, distinct] = await Promise.all([
    count(source, '', signal),
    compute<number | Record<string, Omit<Summary, 'total' | 'present'> & { count: number }>>(
      source,
      path,
      onlyCounts ? 'count' : '$all',
      signal,
    ),
    kind === 'presence' ? undefined : compute<number>(source, path, 'countDistinct', signal),
  ])
  if (typeof all === 'number') return { total, present: all, ...(distinct !== undefined && { distinct }) }
  const [{ count: present, ...others } = { count: 0 }] = Object.values(all)
  return { total, present, ...others, ...(distinct !== undefined && { distinct }) }
}

interface Wanted extends Question {
  readonly kind: Kind
  readonly summary: Summary
}

async function loadGroups(
  source: Source,
  { path, attribute, step: chosenStep, measure, kind, summary }: Wanted,
  signal: AbortSignal,
  report: Report,
): Promise<Pick<Distribution, 'groups' | 'step'>> {
  if (kind === 'presence' || summary.present === 0) return { groups: [] }
  if (kind === 'text' || kind === 'bool') {
    const values = await loadCounts(source, path, TOP_VALUES, signal)
    return {
      groups: values.map(({ value, count }) => ({ value, count, condition: conditionOn(path, attribute, value) })),
    }
  }
  const [min, max] = [numberOf(summary.min), numberOf(summary.max)]
  const isListed = summary.distinct! <= MAX_LISTED
  const most = isListed && !measure ? MAX_LISTED : MAX_ASKED
  const step = kind === 'date' ? (chosenStep ?? stepOf(min, max, MAX_ASKED)) : undefined
  const ranges = step
    ? (dateRanges(min, max, step, most) ?? dateRanges(min, max, stepOf(min, max, most), most) ?? [])
    : kind === 'duration'
      ? durationRanges(min, max, BINS)
      : numberRanges(min, max, BINS, INTEGERS.has(attribute.type))
  const conditions = ranges.map(range => within(path, limit(range.from, attribute), limit(range.to, attribute)))
  const counts = isListed
    ? countInRanges(
        ranges,
        (await loadCounts(source, path, MAX_LISTED, signal)).map(each => ({ ...each, value: numberOf(each.value) })),
      ).map(({ count }) => count)
    : await inTurns(conditions, condition => count(source, condition, signal), report)
  const groups = ranges.map((range, i) => ({
    value: range.from,
    range,
    condition: conditions[i]!,
    count: counts[i]!,
  }))
  return { groups, ...(step && { step }) }
}

/** A limit of a range as a value of a filter, with dates as texts. */
function limit(value: number, { type, simpleDate }: Attribute): string | number {
  if (type !== 'date') return value
  const iso = new Date(value).toISOString()
  return simpleDate ? iso.slice(0, 10) : iso
}

const numberOf = (value: unknown): number =>
  typeof value === 'string' ? (parseDate(value)?.getTime() ?? Number(value)) : Number(value)

const count = async (source: Source, condition: string, signal: AbortSignal): Promise<number> => {
  const { __COUNT } = await read<{ __COUNT: number }>(
    source.path,
    { $filter: filterOf(source, condition), $top: 0 },
    signal,
  )
  return __COUNT
}

const compute = <Answer>(
  source: Source,
  path: string,
  keyword: string,
  signal: AbortSignal,
  condition = '',
): Promise<Answer> =>
  read(
    `${source.path}/${encodeURIComponent(path)}`,
    { $compute: keyword, $filter: filterOf(source, condition) },
    signal,
  )

const loadCounts = (source: Source, path: string, top: number, signal: AbortSignal): Promise<Counted[]> =>
  read(
    `${source.path}/${encodeURIComponent(path)}`,
    { $distinct: true, $counts: true, $top: top, $filter: filterOf(source, '') },
    signal,
  )

const loadMeasure = (
  source: Source,
  condition: string,
  { path, function: name }: Measure,
  signal: AbortSignal,
): Promise<number | null> => compute(source, path, name, signal, condition)

function filterOf({ filter }: Source, condition: string): string {
  const text = condition ? addCondition(filter, condition) : filter
  return text && `"${text}"`
}
