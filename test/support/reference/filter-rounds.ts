/**
 * Random reads with filters, orders and pages: the engine finds what the reference finds.
 */
import type { Test } from 'tap'
import { parseParams } from '../../../engine/query/parse/parse-params.ts'
import type { ReadRequest } from '../../../engine/query/contract/request.ts'
import { readJson } from '../engine/read-request.ts'
import { type Condition, matches } from './condition.ts'
import { type ComparedWorld, request } from './live-world.ts'
import { isBetweenPlaces, type OrderTerm, ordered, orderText, randomOrder } from './order.ts'
import { randomCondition } from './random-condition.ts'
import { type Random, randomOf } from '../base/random.ts'
import { type Rendered, render } from './render.ts'
import { shrink } from './shrink.ts'
import { type ClassSpec, keyText, type ManySpec, modelOf, type Row, relatedEntities, rowsOf } from './world.ts'

const MAX_FAILURES = Number(process.env.TESSER_TEST_FAILURES ?? 5)
let failures = 0
/** True if more differences would say little. */
export const hasFailedOften = (): boolean => failures >= MAX_FAILURES

/** One read, without its condition. */
interface Shape {
  spec: ClassSpec
  /** Starts from the entities that this relation of this row leads to. */
  from: { owner: ClassSpec; relation: ManySpec; row: Row } | undefined
  /** As a member of that row. */
  isMember: boolean
  /** Starts from these rows, by their keys. */
  listed: Row[] | undefined
  order: OrderTerm[]
  orderIn: 'parameter' | 'filter'
  page: { skip: number; top: number }
}

/** Compares answers to `count` random reads with those of the reference. */
export async function compareFilters(
  t: Test,
  live: ComparedWorld,
  random: Random,
  seed: number,
  count: number,
): Promise<void> {
  for (let i = 0; i < count && !hasFailedOften(); i++) {
    const shape = randomShape(live, random)
    const condition = random.chance(0.03) ? undefined : randomCondition(random, live.world, shape.spec)
    const spelling = random.integer(0, 1e9)
    if (!(await differs(live, shape, condition, spelling))) continue
    failures++
    const least = condition && (await shrink(condition, candidate => differs(live, shape, candidate, spelling)))
    t.fail(`seed ${seed}`, { report: await report(live, shape, least, spelling) })
  }
  t.pass('compared')
}

function randomShape(live: ComparedWorld, random: Random): Shape {
  const owner = random.pick(live.specs)
  const rows = rowsOf(live.world, owner.name)
  const relations = owner.attributes.filter((each): each is ManySpec => each.kind === 'relatedEntities')
  const from =
    random.chance(0.1) && relations.length > 0 && rows.length > 0
      ? { owner, relation: random.pick(relations), row: random.pick(rows) }
      : undefined
  const spec = from ? live.specs.find(({ name }) => name === from.relation.target)! : owner
  const listed = !from && random.chance(0.06) ? shuffled(random, random.some(rows, 0.4)) : undefined
  return {
    spec,
    from,
    isMember: from !== undefined && random.chance(0.4),
    listed: listed && listed.length > 1 ? listed : undefined,
    order: random.chance(0.35) ? randomOrder(random, live.world, spec) : [],
    orderIn: random.pick(['parameter', 'filter']),
    page: random.chance(0.5)
      ? { skip: 0, top: Number.POSITIVE_INFINITY }
      : { skip: random.integer(0, 20), top: random.integer(0, 20) },
  }
}

function shuffled<T>(random: Random, list: T[]): T[] {
  const places = new Map(list.map(each => [each, random.integer(0, 1e9)]))
  return list.sort((a, b) => places.get(a)! - places.get(b)!)
}

/** True if the engine's answer differs from the reference's. */
async function differs(
  live: ComparedWorld,
  shape: Shape,
  condition: Condition | undefined,
  spelling: number,
): Promise<boolean> {
  const got = await ask(live, shape, condition, spelling)
  if ('error' in got && isRefused(live, shape, String(got.error))) return false
  return JSON.stringify(got) !== JSON.stringify(reference(live, shape, condition))
}

/** True for the answer to an order that is not possible. */
const isRefused = ({ world }: ComparedWorld, { spec, order }: Shape, error: string): boolean =>
  error.startsWith('REMOTE.NOT_HERE: an order or an aggregate over a relation') && isBetweenPlaces(world, spec, order)

function reference(
  { world }: ComparedWorld,
  { spec, from, listed, order, page }: Shape,
  condition: Condition | undefined,
): object {
  const source = from
    ? relatedEntities(world, from.owner, from.relation, from.row)
    : (listed ?? rowsOf(world, spec.name))
  const found = condition ? source.filter(row => matches(world, spec, row, condition) === true) : source
  const keys = ordered(world, spec, found, order)
    .slice(page.skip, page.skip + page.top)
    .map(row => keyText(spec, row))
  return { count: found.length, sent: keys.length, first: page.skip, keys }
}

async function ask(
  live: ComparedWorld,
  shape: Shape,
  condition: Condition | undefined,
  spelling: number,
): Promise<object> {
  try {
    const wanted = toRequest(live, shape, condition, spelling)
    const { __COUNT, __SENT, __FIRST, __ENTITIES } = shape.isMember
      ? (await readJson(live.engine, asMember(wanted)))[shape.from!.relation.name]
      : await readJson(live.engine, wanted)
    return {
      count: __COUNT,
      sent: __SENT,
      first: __FIRST,
      keys: __ENTITIES.map(({ __KEY }: { __KEY: string }) => __KEY),
    }
  } catch (error) {
    return { error: String((error as Error).stack) }
  }
}

/** The same read as a member of the entity that the rows are related to: `Class(key)/relation?$expand=relation`. */
function asMember(request: ReadRequest): ReadRequest {
  const { from, relation } = request.source as ReadRequest['source'] & { kind: 'related' }
  return {
    ...request,
    dataClass: from.dataClass,
    source: { kind: 'keys', keys: [from.key] },
    output: {
      form: 'entity',
      attributes: { from: 'path', items: [{ path: [relation], range: undefined }] },
      expand: [{ path: [relation], range: undefined }],
    },
  }
}

function toRequest(
  live: ComparedWorld,
  { spec, from, listed, order, orderIn, page }: Shape,
  condition: Condition | undefined,
  spelling: number,
): ReadRequest {
  const { filter, params } = rendered(live, spec, condition, spelling)
  const orderBy = order.length > 0 ? orderText(randomOf(spelling), order) : undefined
  const inFilter = orderBy !== undefined && orderIn === 'filter'
  const text = inFilter ? `${filter} order by ${orderBy}` : filter
  return request(spec, {
    ...page,
    ...(from && {
      source: {
        kind: 'related',
        from: { dataClass: from.owner.name, key: keyText(from.owner, from.row) },
        relation: from.relation.name,
      },
    }),
    ...(listed && { source: { kind: 'keys', keys: listed.map(row => keyText(spec, row)) } }),
    ...(text !== '' && { filter: text }),
    ...(params !== undefined && { params: parseParams(params) }),
    ...(orderBy !== undefined && !inFilter && { orderBy }),
  })
}

const rendered = (
  live: ComparedWorld,
  spec: ClassSpec,
  condition: Condition | undefined,
  spelling: number,
): Rendered => (condition ? render(randomOf(spelling), live.world, spec, condition) : { filter: '', params: undefined })

/** Report of a fault: the smallest condition, the answers, and the rows that are in only one of them. */
async function report(
  live: ComparedWorld,
  shape: Shape,
  condition: Condition | undefined,
  spelling: number,
): Promise<object> {
  const { world } = live
  const { spec, from } = shape
  const expected = reference(live, shape, condition) as { keys: string[] }
  const got = (await ask(live, shape, condition, spelling)) as { keys?: string[] }
  const isIn = (keys: string[] | undefined, row: Row) => keys?.includes(keyText(spec, row)) ?? false
  const concerned = rowsOf(world, spec.name).filter(row => isIn(expected.keys, row) !== isIn(got.keys, row))
  return {
    dataClass: spec.name,
    ...(from && { from: `${from.owner.name}(${keyText(from.owner, from.row)}).${from.relation.name}` }),
    ...(shape.listed && { keys: shape.listed.map(row => keyText(spec, row)).join() }),
    ...rendered(live, spec, condition, spelling),
    order: orderText(randomOf(spelling), shape.order),
    page: shape.page,
    expected: JSON.stringify(expected),
    got: 'error' in got ? got : JSON.stringify(got),
    rows: concerned.slice(0, 3).map(row => printable(row)),
    model: JSON.stringify(modelOf(world)),
  }
}

const printable = ({ id, values }: Row): string =>
  JSON.stringify({ id, ...Object.fromEntries(values) }, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))
