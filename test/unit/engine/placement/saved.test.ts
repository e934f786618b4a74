/**
 * Answers to saves are the same wherever they are written: in the kernel thread, in the pool when large, and slice by
 * slice in the kernel thread when the pool fails.
 */
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { bytesOf, type Engine, parsePathList } from '../../../../engine/index.ts'
import type { Output } from '../../../../engine/query/contract/request.ts'
import type { SaveRequest } from '../../../../engine/write/contract/requests.ts'
import { LIMITS } from '../../../support/engine/engine-options.ts'
import { openItems } from './store.ts'

const ROWS = 2_000
/** More than one slice, and more than are written in one turn of the event loop. */
const MANY = 1_300
const isWrong = (i: number): boolean => i % 7 === 3

const elements = Array.from({ length: MANY }, (_, i) => {
  if (isWrong(i)) return i % 2 === 0 ? { __KEY: String(i), __STAMP: 99 } : { ID: i + 1, number: 'a' }
  return i % 2 === 0
    ? { __KEY: String(i), __STAMP: 1, number: -i, groupID: 5 }
    : { ID: ROWS + i, number: -i, groupID: 5 }
})

async function save(engine: Engine, body: unknown, output: Output, part: Partial<SaveRequest> = {}) {
  const request = { kind: 'save', dataClass: 'Item', mode: 'update', atomic: false, ...part } as const
  const answer = await engine.saves.save({ ...request, body: Buffer.from(JSON.stringify(body)) }, output)
  const coding = answer.body instanceof Uint8Array ? undefined : answer.body.coding
  const bytes = await bytesOf(answer.body)
  const text = Buffer.from(coding === 'gzip' ? gunzipSync(bytes) : bytes).toString()
  return { status: answer.status, coding, text, json: JSON.parse(text) }
}

/** Element of an answer in the form of {@link expected}. */
const shown = ({ __KEY, __STAMP, uri, number, __STATUS, __ERROR }: Record<string, unknown>) => ({
  key: __KEY,
  stamp: __STAMP,
  uri,
  number: __STATUS ? undefined : number,
  failed: __ERROR !== undefined,
})

function expected(_: unknown, i: number): ReturnType<typeof shown> {
  const isNew = i % 2 === 1
  const key = String(isNew ? ROWS + i : i)
  if (isWrong(i) && isNew) return { key: undefined, stamp: undefined, uri: undefined, number: undefined, failed: true }
  const uri = `/rest/Item(${key})`
  if (isWrong(i)) return { key, stamp: 1, uri, number: undefined, failed: true }
  return { key, stamp: isNew ? 1 : 2, uri, number: -i, failed: false }
}

const engines = {
  'in the pool': { limits: LIMITS },
  // Every deadline has passed before the task begins, so the pool always fails.
  'slice by slice': { limits: { ...LIMITS, timeoutMs: -1 } },
}
for (const [where, options] of Object.entries(engines)) {
  t.test(`a large answer that is written ${where}`, async t => {
    const isPool = where === 'in the pool'
    const engine = await openItems(t, ROWS, options)
    const entities = await save(engine, elements, { form: 'collection', coding: 'gzip' })
    t.equal(entities.status, 422)
    t.equal(entities.coding, isPool ? 'gzip' : undefined)
    const { __ENTITIES, ...rest } = entities.json
    t.same(rest, {})
    t.equal(__ENTITIES.length, MANY)
    t.equal(JSON.stringify(__ENTITIES.map(shown)), JSON.stringify(elements.map(expected)))

    const again = elements.filter((_, i) => isWrong(i))
    const array = await save(engine, again, { form: 'array' })
    t.equal(array.json.length, again.length)
    t.ok(array.json.every((got: object) => '__ERROR' in got))

    const problems = await save(engine, elements.slice(1_000), { form: 'collection' }, { mode: 'validate' })
    t.equal(problems.status, 409)
    t.equal(problems.json.__ENTITIES.length, elements.slice(1_000).filter(each => 'ID' in each || each.__STAMP).length)
    t.ok(problems.json.__ENTITIES.every((got: object) => Object.keys(got).join() === '__ERROR,__INDEX'))

    const fine = Array.from({ length: 600 }, (_, i) => ({ ID: 10_000 + i }))
    t.equal((await save(engine, fine, { form: 'collection' }, { mode: 'validate' })).text, '{"ok":true}')
    const indented = await save(engine, fine, { form: 'collection', pretty: true }, { mode: 'refresh' })
    t.equal(indented.text.includes('\n'), isPool)
    t.equal(indented.json.__ENTITIES.length, 600)

    const expanded = await save(
      engine,
      { __KEY: '10', __STAMP: 1, number: 1 },
      { form: 'entity', expand: parsePathList('group.items') },
    )
    t.match(expanded.json, { __KEY: '10', number: 1, group: isPool ? { items: { __COUNT: 6 } } : undefined })
  })
}

t.test('an answer that is too large with its expansions is sent without them', async t => {
  const engine = await openItems(t, ROWS, { limits: { ...LIMITS, maxAnswerBytes: 2_000_000 } })
  const groups = Array.from({ length: ROWS / 10 }, (_, i) => ({ __KEY: String(i), __STAMP: 1 }))
  const expand = parsePathList('items.group.items')
  for (const pretty of [false, true]) {
    const { json, status } = await save(engine, groups, { form: 'collection', expand, pretty }, { dataClass: 'Group' })
    t.equal(status, 200)
    t.equal(json.__ENTITIES.length, groups.length)
    t.match(json.__ENTITIES[7], { __KEY: '7', items: { __deferred: {} } })
  }
})
