/**
 * Random attribute lists, expansions and forms: entities are sent as the reference builds them.
 */
import type { Test } from 'tap'
import { parsePathList } from '../../../engine/index.ts'
import type { Output, SelectionSource } from '../../../engine/query/contract/request.ts'
import { readJson } from '../engine/read-request.ts'
import { comparable, firstDifference } from './compare-answers.ts'
import { type ComparedWorld, request } from './live-world.ts'
import { type Expanded, type Listed, projectPage, storageValue, type Wanted } from './project.ts'
import type { Random } from '../base/random.ts'
import {
  type ClassSpec,
  classOf,
  follow,
  keyText,
  modelOf,
  type Row,
  rowsOf,
  type StorageSpec,
  type World,
} from './world.ts'

const MAX_FAILURES = Number(process.env.TESSER_TEST_FAILURES ?? 5)
let failures = 0

/** Compares answers to `count` random reads with those of the reference. */
export async function compareProjections(
  t: Test,
  live: ComparedWorld,
  random: Random,
  seed: number,
  count: number,
): Promise<void> {
  const { world } = live
  for (let i = 0; i < count && failures < MAX_FAILURES; i++) {
    const spec = random.pick(live.specs)
    const rows = rowsOf(world, spec.name)
    const form = rows.length === 0 ? 'collection' : random.pick(['collection', 'array', 'entity'] as const)
    const wanted: Wanted = {
      form,
      from: random.pick(['path', 'parameter']),
      listed: random.chance(0.65) ? randomList(random, world, spec, 2) : undefined,
      expanded: random.chance(0.6) ? randomExpansion(random, world, spec, 2) : new Map(),
    }
    const page = form === 'entity' ? { skip: 0, top: 1 } : { skip: random.integer(0, 5), top: random.integer(0, 12) }
    const one = form === 'entity' ? random.pick(rows) : undefined
    const source = one ? randomAddress(random, spec, one) : ({ kind: 'all' } as const)
    const output = outputOf(random, wanted)

    const sent = one ? [one] : rows.slice(page.skip, page.skip + page.top)
    const expected = projectPage(world, spec, sent, rows.length, page.skip, wanted)
    let got: unknown
    try {
      got = comparable(await readJson(live.engine, request(spec, { source, ...page, output })))
    } catch (error) {
      got = { error: String((error as Error).stack) }
    }
    if (JSON.stringify(got) === JSON.stringify(expected)) continue
    failures++
    const paths = (items: Output['expand']) =>
      items?.map(({ path, range }) => path.join('.') + (range ? `:${range.count}-${range.skip}` : '')).join(',')
    t.fail(`seed ${seed}`, {
      report: {
        dataClass: spec.name,
        form,
        attributes: output.attributes && `${output.attributes.from}: ${paths(output.attributes.items)}`,
        expand: paths(output.expand),
        difference: firstDifference(expected, got, ''),
        model: JSON.stringify(modelOf(world)),
      },
    })
  }
  t.pass('compared')
}

/** An entity addressed by its key or by a unique attribute. */
function randomAddress(random: Random, spec: ClassSpec, row: Row): SelectionSource {
  const unique = spec.attributes.find(each => each.kind === 'storage' && each.unique) as StorageSpec | undefined
  const value = unique && storageValue(spec, row, unique)
  return unique && value !== null && random.chance(0.5)
    ? { kind: 'attribute', attribute: unique.name, value: String(value) }
    : { kind: 'keys', keys: [keyText(spec, row)] }
}

/** Names of attributes here and beyond relations; a relation either as a whole or followed by names. */
function randomList(random: Random, world: World, spec: ClassSpec, depth: number): Listed {
  const listed: Listed = new Map()
  if (random.chance(0.2)) listed.set('*', new Map())
  for (const { name } of random.some(spec.attributes.filter(isPublic), 0.35))
    listed.set(name, below(random, world, spec, name, depth))
  if (listed.size === 0) listed.set('id', new Map())
  return listed
}

function below(random: Random, world: World, spec: ClassSpec, name: string, depth: number): Listed {
  const { attribute } = follow(world, spec, [{ name }])
  if (attribute.kind !== 'storage') {
    return depth > 0 && random.chance(0.6)
      ? randomList(random, world, classOf(world, attribute.target), depth - 1)
      : new Map()
  }
  if (attribute.type !== 'object' || random.chance(0.5)) return new Map()
  return new Map([
    ['code', new Map()],
    ['deep', random.chance(0.5) ? new Map([['size', new Map()]]) : new Map()],
    ['missing', new Map()],
  ])
}

function randomExpansion(random: Random, world: World, spec: ClassSpec, depth: number): Expanded {
  const expanded: Expanded = new Map()
  const nothing = { below: new Map(), skip: 0, count: 100 }
  if (random.chance(0.1)) return new Map([['$all', nothing]])
  for (const { name } of random.some(spec.attributes, 0.5)) {
    const { attribute } = follow(world, spec, [{ name }])
    if (attribute.kind === 'storage') continue
    if (depth > 0 && random.chance(0.4)) {
      const below = randomExpansion(random, world, classOf(world, attribute.target), depth - 1)
      expanded.set(name, { ...nothing, below })
    } else if (attribute.kind === 'relatedEntities' && random.chance(0.4)) {
      expanded.set(name, { ...nothing, skip: random.integer(0, 2), count: random.integer(0, 3) })
    } else expanded.set(name, nothing)
  }
  return expanded
}

const isPublic = (attribute: ClassSpec['attributes'][number]): boolean =>
  attribute.kind !== 'storage' || attribute.scope === undefined

function outputOf(random: Random, { form, from, listed, expanded }: Wanted): Output {
  const expand = expandTexts(expanded)
  const separator = random.pick([',', ', '])
  return {
    form,
    ...(listed && { attributes: { from, items: parsePathList(listTexts(listed).join(separator)) } }),
    ...(expand.length > 0 && { expand: parsePathList(expand.join(separator)) }),
  }
}

const listTexts = (listed: Listed): string[] =>
  [...listed].flatMap(([name, below]) => (below.size === 0 ? [name] : listTexts(below).map(text => `${name}.${text}`)))

const expandTexts = (expanded: Expanded): string[] =>
  [...expanded].flatMap(([name, { below, skip, count }]) => {
    if (below.size > 0) return expandTexts(below).map(text => `${name}.${text}`)
    return [name + (count === 100 ? '' : skip === 0 ? `:${count}` : `:${count}-${skip}`)]
  })
