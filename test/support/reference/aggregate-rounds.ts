/**
 * Random aggregates and distinct values: the engine has the results of the reference.
 */
import type { Test } from 'tap'
import { bytesOf, parsePathList } from '../../../engine/index.ts'
import { parseParams } from '../../../engine/query/parse/parse-params.ts'

import { decode } from '../engine/read-request.ts'
import { type AggregateName, aggregated, applicable, distinctValues, isExpected, kindOf } from './aggregate.ts'
import { matches, type Step, valueAt } from './condition.ts'
import { type ComparedWorld, request } from './live-world.ts'
import { isBetweenPlaces } from './order.ts'
import { randomCondition } from './random-condition.ts'
import { type Random, randomOf } from '../base/random.ts'
import { render } from './render.ts'
import { type ClassSpec, classOf, follow, modelOf, rowsOf, type World } from './world.ts'

/** @returns the number of differences */
export async function compareAggregates(
  t: Test,
  live: ComparedWorld,
  random: Random,
  seed: number,
  count: number,
): Promise<number> {
  const { world } = live
  let failures = 0
  for (let i = 0; i < count && failures < 3; i++) {
    const spec = random.pick(live.specs)
    const path = randomPath(random, world, spec)
    if (path === undefined || !isOfOneType(world, spec, path)) continue
    const condition = random.chance(0.5) ? randomCondition(random, world, spec) : undefined
    const kind = kindOf(world, spec, path)
    const isDistinct = kind !== 'opaque' && random.chance(0.4)
    const names = path.map(({ name }) => name).join('.')
    const items = parsePathList(names)
    const filter = condition && render(randomOf(random.integer(0, 1e9)), world, spec, condition)
    const page = random.chance(0.5)
      ? { skip: 0, top: Number.POSITIVE_INFINITY }
      : { skip: random.integer(0, 5), top: random.integer(0, 9) }
    const wanted = request(spec, {
      ...(filter && { filter: filter.filter }),
      ...(filter?.params !== undefined && { params: parseParams(filter.params) }),
    })
    const rows = rowsOf(world, spec.name).filter(row => !condition || matches(world, spec, row, condition) === true)
    const aggregation = {
      function: random.pick<AggregateName | 'all'>(['all', 'all', ...applicable(kind)]),
      distinct: kind !== 'opaque' && random.chance(0.25),
    }
    const counted = random.chance(0.3)
    let got: unknown
    try {
      const body = await (isDistinct
        ? live.engine.queries.distinct({ ...wanted, ...page }, items, undefined, { counted })
        : live.engine.queries.compute(wanted, items, aggregation))
      got = decode(body instanceof Uint8Array ? body : await bytesOf(body))
    } catch (error) {
      got = { error: String((error as Error).stack) }
      if (
        /^REMOTE.NOT_HERE: an (order or an )?aggregate over/.test((got as { error: string }).error) &&
        isBetweenPlaces(world, spec, [{ path }])
      )
        continue
    }
    const expected = isDistinct
      ? distinctValues(world, spec, rows, path, page, counted)
      : aggregated(world, spec, rows, path, aggregation)
    if (isExpected(expected, got)) continue
    failures++
    t.fail(`seed ${seed}`, {
      report: {
        dataClass: spec.name,
        filter: filter?.filter,
        params: filter?.params,
        order: isDistinct ? `distinct ${names} ${counted}` : `${JSON.stringify(aggregation)} of ${names}`,
        page,
        expected: JSON.stringify(expected),
        got: typeof got === 'object' && got !== null && 'error' in got ? got : JSON.stringify(got),
        model: JSON.stringify(modelOf(world)),
      },
    })
  }
  return failures
}

/** An attribute here, over N→1 relations, or a property. */
function randomPath(random: Random, world: World, spec: ClassSpec): Step[] | undefined {
  const path: Step[] = []
  let at = spec
  for (let depth = random.pick([0, 0, 0, 1, 2]); depth > 0; depth--) {
    const relations = at.attributes.filter(each => each.kind === 'relatedEntity')
    if (relations.length === 0) break
    const relation = random.pick(relations)
    path.push({ name: relation.name })
    at = classOf(world, relation.target)
  }
  const last = random.pick(at.attributes.filter(each => each.kind === 'storage' || each.kind === 'alias'))
  path.push({ name: last.name })
  const { relations, attribute } = follow(world, spec, path)
  if (relations.some(({ relation }) => relation.kind === 'relatedEntities')) return undefined
  if (attribute.kind !== 'storage' || attribute.scope) return undefined
  if (attribute.type !== 'object' || random.chance(0.1)) return path
  return [
    ...path,
    ...random
      .pick(['code', 'any', 'deep.tag', 'deep.size', 'flag', 'list.length', 'list', 'missing', 'items'])
      .split('.')
      .map(name => ({ name })),
  ]
}

/** False for a property with values of another type than the declared one, for which the texts promise nothing. */
function isOfOneType(world: World, spec: ClassSpec, path: Step[]): boolean {
  const kind = kindOf(world, spec, path)
  if (kind === 'json' || kind === 'opaque' || follow(world, spec, path).properties.length === 0) return true
  const type = { number: 'number', text: 'string', bool: 'boolean', date: 'string' }[kind]
  return rowsOf(world, spec.name).every(row => {
    const value = valueAt(world, spec, row, path)
    return value === null || typeof value === type
  })
}
