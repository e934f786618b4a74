/**
 * Saves and deletions, valid and invalid, change the store and answer as a simple model says, whatever happened before.
 */
import t from 'tap'
import { loadModel } from '../../engine/catalog/load-model.ts'
import { parseParams } from '../../engine/query/parse/parse-params.ts'
import { checkStore } from '../../engine/storage/inspect/check-store.ts'
import { openEnvironment } from '../../engine/storage/environment.ts'
import { loadLayouts } from '../../engine/storage/layouts.ts'
import type { TableNumbers } from '../../engine/catalog/table-numbers.ts'
import { deleteRows } from '../support/reference/changes.ts'
import { comparable, firstDifference } from '../support/reference/compare-answers.ts'
import { decode, readJson } from '../support/engine/read-request.ts'
import { LiveWorld, request } from '../support/reference/live-world.ts'
import { projectPage, type Wanted } from '../support/reference/project.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { randomSave, type SaveElement } from '../support/reference/random-save.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import {
  type ClassSpec,
  keyText,
  modelOf,
  type Row,
  rowsOf,
  type StorageSpec,
  type World,
} from '../support/reference/world.ts'

const WORLDS = isLong ? longCount(30) : 3
const REQUESTS = isLong ? 250 : 120

t.setTimeout(timeoutMs)
for (const seed of seeds(WORLDS)) {
  t.test(`world ${seed}: writes match a model of the store`, async t => {
    const random = randomOf(seed)
    const live = await LiveWorld.open(t.testdir({}), random, 20)
    try {
      for (let i = 0; i < REQUESTS; i++) {
        if (random.chance(0.02)) await live.reopen()
        const difference = await (random.chance(0.15) ? remove(live, random) : save(live, random))
        if (difference === undefined) continue
        // Later answers would differ as well.
        t.fail(`seed ${seed}, request ${i}`, { report: { difference, model: JSON.stringify(modelOf(live.world)) } })
        return
      }
      await live.reopen()
      t.equal(await stateDifference(live), '', 'the same after it is reopened')
    } finally {
      await live.engine.close()
    }
    t.same(problemsOf(live), [], 'the store is consistent')
  })
}

/** Saves one element or several. @returns the difference, or undefined */
async function save(live: LiveWorld, random: Random): Promise<string | undefined> {
  const { world } = live
  const spec = random.pick(live.specs)
  const mode = random.pick(['update', 'update', 'update', 'update', 'validate', 'refresh'] as const)
  const atomic = random.chance(0.3)
  const before = copyOf(world)
  const used = new Set<Row>()
  const isMany = random.chance(0.6)
  const elements = Array.from({ length: isMany ? random.integer(0, 6) : 1 }, () =>
    randomSave(random, world, spec, live.pools, used),
  )
  const bodies = elements.map(({ body }) => body)
  const body = Buffer.from(JSON.stringify(isMany ? (random.chance(0.3) ? { __ENTITIES: bodies } : bodies) : bodies[0]))
  const told = `${spec.name} ${mode}${atomic ? ' atomic' : ''} ${body} [${elements.map(({ kind }) => kind)}]`
  const isSaved = mode === 'update' && !(atomic && elements.some(({ errors }) => errors))
  if (!isSaved) restore(world, before)
  if (mode === 'validate') {
    const { entities } = await live.engine.saves.write({ kind: 'save', dataClass: spec.name, body, mode, atomic })
    const answers = entities.map(({ failure }) => (failure ? { __ERROR: failure.error.entries } : {}))
    return about(told, elements.map((element, i) => errorDifference(element, answers[i])).find(Boolean))
  }
  const answer = await live.engine.saves.save(
    { kind: 'save', dataClass: spec.name, body, mode, atomic },
    { form: 'entity' },
  )
  const parsed = decode(answer.body)
  const answers = isMany ? parsed.__ENTITIES : [parsed]
  if (answers.length !== elements.length) return about(told, `${answers.length} answers`)
  for (const [i, element] of elements.entries()) {
    const got = answers[i]
    const difference = errorDifference(element, got)
    if (difference) return about(told, difference)
    if (got.__INDEX !== (isMany && element.errors ? i : undefined)) return about(told, `__INDEX ${got.__INDEX} of ${i}`)
    if (!element.errors && element.hasNewKey && isSaved) element.row!.values.set(spec.key, typedKey(spec, got.__KEY))
  }
  if (elements.some(({ errors }) => errors) !== answer.status >= 400) return about(told, `status ${answer.status}`)
  for (const [i, element] of elements.entries()) {
    if (!element.row || (!isSaved && !element.errors)) continue
    // The entity as it is now on the server, for failures in an atomic request and for saved elements.
    const difference = entityDifference(world, spec, element, answers[i])
    if (difference !== '') return about(told, `element ${i}${difference}`)
  }
  return about(told, await stateDifference(live))
}

const about = (request: string, difference: string | undefined): string | undefined =>
  difference ? `${difference}\n${request}` : undefined

function errorDifference(
  { kind, errors }: SaveElement,
  got: { __STATUS?: unknown; __ERROR?: { errCode: number }[] } | undefined,
): string | undefined {
  const codes = got?.__ERROR?.map(({ errCode }) => errCode)
  if (!errors) return codes && `${kind}: expected no error, got ${JSON.stringify(got)}`
  if (!codes) return `${kind}: expected ${errors}, got ${JSON.stringify(got)}`
  const isRight =
    errors[0] === 1263
      ? codes.join() === '1263,1046,1517'
      : errors.includes(codes[0]!) && [1517, 1534].includes(codes.at(-1)!)
  return isRight ? undefined : `${kind}: expected ${errors}, got ${JSON.stringify(got)}`
}

function entityDifference(
  world: World,
  spec: ClassSpec,
  { row, errors }: SaveElement,
  got: Record<string, unknown>,
): string {
  const { __KEY, __TIMESTAMP, __STAMP, ...attributes } = (
    projectPage(world, spec, [current(world, spec, row!)], 1, 0, whole('collection')) as {
      __ENTITIES: Record<string, unknown>[]
    }
  ).__ENTITIES[0]!
  const expected = { __KEY, __STAMP, uri: `/rest/${spec.name}(${__KEY})`, __TIMESTAMP, ...attributes }
  const { __STATUS, __ERROR, __INDEX, ...entity } = got
  if (errors) {
    const { success, status } = __STATUS as { success: boolean; status: number }
    if (success || (status === 2) !== (errors[0] === 1263)) return `/__STATUS: ${JSON.stringify(__STATUS)}`
  } else if (__STATUS) return '/__STATUS: there is one'
  return firstDifference(expected, comparable(entity), '')
}

async function remove(live: LiveWorld, random: Random): Promise<string | undefined> {
  const { world } = live
  const spec = random.pick(live.specs)
  const rows = random.some(rowsOf(world, spec.name), random.pick([0.05, 0.05, 0.2]))
  if (rows.length === 0) return undefined
  const keys = rows.map(row => keyText(spec, row))
  const changed = deleteRows(world, spec.name, rows)
  // In a filter, @ would be a wildcard.
  const byFilter = random.chance(0.3) && !keys.some(key => key.includes('@'))
  const chosen = byFilter
    ? { filter: `${spec.key} in :1`, params: parseParams(JSON.stringify([keys])) }
    : { source: { kind: 'keys', keys } as const }
  // Without `$atomic`, which of several are left would depend on the order.
  const atomic = rows.length > 1 || random.chance(0.5)
  const outcome = await live.engine.saves.delete(request(spec, chosen), { atomic }).then(
    count => (count === rows.length ? undefined : `${count} deleted`),
    (error: { entries?: { errCode: number }[] }) =>
      JSON.stringify(error.entries?.map(({ errCode }) => errCode) ?? String(error)),
  )
  const isRight = changed ? outcome === undefined : outcome?.startsWith('[1120,1518')
  if (isRight && changed) await live.adoptStamps(changed)
  const told = `deletion of ${spec.name}(${keys})`
  return about(
    told,
    isRight ? await stateDifference(live) : `expected ${changed ? 'success' : 'refusal'}, got ${outcome}`,
  )
}

/** Difference of the store from its model; an empty text if there is none. */
async function stateDifference(live: LiveWorld): Promise<string> {
  for (const spec of live.specs) {
    const rows = rowsOf(live.world, spec.name)
    const got = await readJson(live.engine, request(spec, { output: { form: 'collection' } }))
    const expected = projectPage(live.world, spec, rows, rows.length, 0, whole('collection'))
    const difference = firstDifference(expected, comparable(got), '')
    if (difference !== '') return `${spec.name} ${difference}`
  }
  return ''
}

const whole = (form: Wanted['form']): Wanted => ({ form, from: 'path', listed: undefined, expanded: new Map() })

/** The row in the current model: after a rollback, the model has other row objects. */
const current = (world: World, spec: ClassSpec, { id }: Row): Row =>
  rowsOf(world, spec.name).find(row => row.id === id)!

const typedKey = (spec: ClassSpec, key: string): string | number =>
  (spec.attributes[0] as StorageSpec).type === 'long' ? Number(key) : key

type Tables = Map<string, { rows: Row[]; nextId: number }>

function copyOf({ classes }: World): Tables {
  return new Map(
    [...classes].map(([name, { rows, nextId }]) => [
      name,
      { nextId, rows: rows.map(row => ({ ...row, values: new Map(row.values) })) },
    ]),
  )
}

function restore({ classes }: World, tables: Tables): void {
  for (const [name, { rows, nextId }] of tables) Object.assign(classes.get(name)!, { rows, nextId })
}

function problemsOf({ folder, world }: LiveWorld): string[] {
  const environment = openEnvironment({ path: folder, mapSizeBytes: 256 << 20 })
  const catalog = loadModel(modelOf(world), environment.meta.get('numbers') as TableNumbers)
  try {
    return [...checkStore(environment, catalog, loadLayouts(environment, catalog, { dateOnlyFormat: 'iso' }))]
  } finally {
    void environment.close()
  }
}
