import { join } from 'node:path'
import { isLong } from '../support/runner/rounds.ts'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/servers/test-server.ts'
import { abusePlugin, watchedPlugin } from '../support/plugins/test-plugins.ts'

/** Repetitions of each abuse. */
const TIMES = isLong ? 20 : 1
/** Repetitions of slow abuses. */
const FEW = isLong ? 3 : 1
/** Long, because on a slow machine the deadline would end calls that another limit has to end; `loops` has its own. */
const deadlineSeconds = 120
/** The breaker never refuses, so that each call runs. */
const functions = { threads: 1, memoryBytes: '32 MiB', breakerLimit: 1_000, deadlineSeconds }
const start = (t: Test, more: object = {}) =>
  startServer(t, company, {
    config: { plugins: [abusePlugin], functions: { ...functions, ...more }, query: { maxAnswerBytes: 1_000_000 } },
  })

const abuses: { name: string; times: number; status: number; message?: RegExp; result?: string | number }[] = [
  { name: 'throws', times: TIMES, status: 500, message: /ds\.throws failed with Error/ },
  { name: 'loops', times: TIMES, status: 503, message: /ds\.loops was stopped: it exceeded its deadline of 0\.05 s/ },
  { name: 'blocks', times: TIMES, status: 503, message: /it exceeded its deadline of 0\.05 s/ },
  { name: 'eatsMemory', times: TIMES, status: 500, message: /more memory/ },
  { name: 'eatsOneArray', times: FEW, status: 500, message: /more memory/ },
  { name: 'eatsBuffers', times: FEW, status: 500, message: /more memory/ },
  { name: 'leavesGarbage', times: 3, status: 200, result: 25_000_000 },
  { name: 'exits', times: TIMES, status: 500, message: /process\.exit/ },
  { name: 'recurses', times: TIMES, status: 500, message: /RangeError/ },
  { name: 'rejectsLater', times: TIMES, status: 200, result: 'for now' },
  { name: 'throwsLater', times: TIMES, status: 200, result: 'for now' },
  { name: 'throwsNothingLater', times: TIMES, status: 200, result: 'for now' },
  { name: 'posts', times: TIMES, status: 200, result: 0 },
  { name: 'listens', times: TIMES, status: 200, result: 'listening' },
  { name: 'isHuge', times: TIMES, status: 413 },
  { name: 'throwsNothing', times: 1, status: 500, message: /ds\.throwsNothing failed/ },
  { name: 'getterThrows', times: 1, status: 500, message: /ds\.getterThrows failed with Error/ },
  { name: 'throwsAccessor', times: 1, status: 500, message: /ds\.throwsAccessor failed with TypeError/ },
  { name: 'throwsProxy', times: 1, status: 500, message: /ds\.throwsProxy failed with TypeError/ },
  { name: 'trapsPrototypes', times: 1, status: 200, result: 'done' },
]

t.test('whatever a function does, only its own call fails', async t => {
  const server = await start(t)
  for (const { name, times, status, message, result } of abuses) {
    await t.test(`${name}, ${times} times in a row`, async t => {
      for (let i = 0; i < times; i++) {
        const calling = server.post(`/$catalog/${name}`)
        // Another client reads meanwhile.
        const read = await server.get('/Employee?$orderby="lastName"&$top=2')
        t.same(read.json.__ENTITIES?.length, 2, read.text.slice(0, 300))
        const answer = await calling
        t.equal(answer.status, status, answer.text.slice(0, 300))
        t.notMatch(answer.text, /inner secret|\.ts|node:/)
        if (result !== undefined) t.equal(answer.json.result, result)
        if (message) t.match(answer.json.__ERROR[0].message, message)
      }
      t.equal((await server.post('/$catalog/fine')).json.result, 'fine')
    })
  }
})

t.test('long texts arrive unchanged, and those of errors are cut', async t => {
  const server = await start(t)
  for (const sign of ['x', 'é', '漢', '😀']) {
    const { json } = await server.post('/$catalog/isHuge', [30_000, sign])
    t.equal(json.result, sign.repeat(30_000))
  }
  t.equal((await server.post('/$catalog/answers', [30_000])).text, 'x'.repeat(30_000))
  const [{ message }] = (await server.post('/$catalog/fails', [30_000])).json.__ERROR
  t.equal(message, `${'x'.repeat(16_384)}…`)
})

t.test('a thread that loops after its answer is replaced', async t => {
  const server = await start(t)
  t.equal((await server.post('/$catalog/loopsLater')).json.result, 'for now')
  t.equal((await server.post('/$catalog/fine')).json.result, 'fine')
})

t.test('calls that wait behind one that ends its thread still run', async t => {
  const server = await start(t)
  const ending = Promise.all(['exits', 'loops', 'exits'].map(name => server.post(`/$catalog/${name}`)))
  const others = await Promise.all(Array.from({ length: 40 }, () => server.post('/$catalog/fine')))
  t.ok(others.every(({ json }) => json.result === 'fine'))
  t.same(
    (await ending).map(({ status }) => status),
    [500, 503, 500],
  )
})

t.test('with two threads no call waits for a slow function', async t => {
  const server = await start(t, { threads: 2 })
  let isDone = false
  const slow = server.post('/$catalog/loopsLong').then(
    () => (isDone = true),
    () => 'the server stops before',
  )
  const others = await Promise.all(Array.from({ length: 10 }, () => server.post('/$catalog/fine')))
  t.ok(others.every(({ json }) => json.result === 'fine'))
  t.equal(isDone, false)
  await server.stop()
  t.equal(await slow, 'the server stops before')
})

t.test('what was saved before a function was stopped stays saved', async t => {
  const server = await start(t)
  t.equal((await server.post('/City/savesAndLoops')).status, 503)
  t.equal((await server.get('/City(Paris)')).json.population, 1)
  t.equal((await server.post('/City?$method=update', { name: 'Rome' })).status, 200)
})

t.test('a function that ends its thread every time is refused for a while', async t => {
  let now = Date.now()
  const server = await startServer(t, company, {
    config: {
      plugins: [abusePlugin],
      functions: { threads: 1, breakerLimit: 3, breakerPauseSeconds: 10, deadlineSeconds },
    },
    now: () => now,
  })
  const status = async (name: string) => (await server.post(`/$catalog/${name}`)).status
  t.same([await status('exits'), await status('exits'), await status('exits')], [500, 500, 500])
  const refused = await server.post('/$catalog/exits')
  t.equal(refused.status, 503)
  t.equal(refused.headers['retry-after'], '10')
  t.match(refused.json.__ERROR[0].message, /is not called/)
  t.equal(await status('fine'), 200)
  now += 10_001
  t.same([await status('exits'), await status('exits')], [500, 503])
})

t.test('arguments that cannot be parsed do not trip the breaker', async t => {
  const server = await startServer(t, company, {
    config: {
      plugins: [abusePlugin],
      functions: { threads: 1, memoryBytes: '64 MiB', breakerLimit: 1, deadlineSeconds },
    },
  })
  const mebibytes = (text: string, count: number) => text.repeat(Math.floor((count * 2 ** 20) / text.length))
  const hostile: [string, string, number, RegExp][] = [
    ['more than may be sent', `["${mebibytes('a', 9)}"]`, 413, /8388608 bytes/],
    ['nested', mebibytes('[', 4), 400, /100 levels/],
    ['nested and closed', `${mebibytes('[', 2)}${mebibytes(']', 2)}`, 400, /100 levels/],
    ['many objects', `[${mebibytes('{},', 6)}{}]`, 400, /262144 values/],
    ['many numbers', `[${mebibytes('1,', 6)}1]`, 400, /262144 values/],
    ['many arguments', `[${'1,'.repeat(1_000)}1]`, 400, /at most 1000 arguments; received 1001/],
    ['not UTF-8', '', 400, /UTF-8/],
    ['not JSON', `["${mebibytes('a', 7)}`, 400, /JSON/],
    ['a prototype', '[{"__proto__":{"a":1}}]', 400, /prototype/],
    [
      'many entity sets',
      JSON.stringify(Array.from({ length: 101 }, (_, i) => ({ __DATASET: i.toString(16).padStart(32, '0') }))),
      400,
      /at most 100 entity sets/,
    ],
  ]
  for (const [name, text, status, message] of hostile) {
    const body = name === 'not UTF-8' ? new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]) : text
    for (let i = 0; i < FEW; i++) {
      const answer = await server.post('/$catalog/fine', body)
      t.equal(answer.status, status, `${name}: ${answer.text.slice(0, 200)}`)
      t.match(answer.json.__ERROR[0].message, message)
    }
    t.equal((await server.post('/$catalog/fine')).json.result, 'fine', `after ${name}`)
  }
  t.equal((await server.post('/$catalog/lengthOf', [mebibytes('a', 7)])).json.result, 7 * 2 ** 20, 'below the bound')
})

t.test('a singleton that ends its thread starts afresh', async t => {
  const server = await start(t)
  const count = async () => (await server.post('/$singleton/Fragile/count1')).json.result
  t.same([await count(), await count()], [1, 2])
  t.equal((await server.post('/$singleton/Fragile/exits')).status, 500)
  t.equal(await count(), 1)
})

t.test('work that one client makes expensive does not trip the breaker for others', async t => {
  const server = await startServer(t, company, {
    config: {
      plugins: [watchedPlugin],
      functions: { threads: 1, memoryBytes: '32 MiB', breakerLimit: 1, deadlineSeconds },
      query: { maxAnswerBytes: '2 GiB' },
      storage: { cacheBytes: '8 MiB' },
    },
  })
  const notes = 'x'.repeat(10_000)
  const staff = Array.from({ length: 400 }, (_, i) => ({ lastName: `number ${i}`, employerID: 1, notes }))
  t.equal((await server.post('/Employee?$method=update', staff)).status, 200)
  const info = { text: 'x'.repeat(1_000_000) }
  t.equal((await server.post('/Company?$method=update', { ID: 99, name: 'Large', info })).status, 200)
  const stale = Array.from({ length: 1_000 }, () => ({ __KEY: '99', __STAMP: 77, name: 'Small' }))
  const costly = [
    () => server.get('/Company(1)?$attributes=staff.employer.staff.notes'),
    () => server.post('/Company/same?$attributes=staff.employer.staff.notes&$filter="ID=1"'),
    () => server.post('/Company?$method=update', stale),
  ]
  for (const send of costly) {
    const answer = await send()
    t.equal(answer.status, 500, answer.text.slice(0, 200))
    t.match(answer.json.__ERROR[0].message, /was stopped/)
  }
  t.equal((await server.get('/Company(1)/name')).status, 200)
  t.equal((await server.post('/Company/same?$filter="ID=1"')).status, 200)
  t.equal((await server.post('/Company?$method=update', { name: 'Other' })).status, 200)
})

t.test('nor does quick code that a client runs for many entities', async t => {
  const folder = t.testdir({
    'index.ts': `import { definePlugin } from 'tesser'
export default definePlugin({ name: 'slow', kernel: '^1.0.0', classes: new URL('./classes.ts', import.meta.url) })`,
    'classes.ts': `import { calculated, Entity, event } from 'tesser/classes'
export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'number' }) get pace() { return wait(this.lastName === 'for ever' ? 1e9 : 20) }
}
function wait(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
  return ms
}`,
  })
  const server = await startServer(t, company, {
    config: {
      plugins: [join(folder, 'index.ts')],
      functions: { threads: 1, breakerLimit: 1, deadlineSeconds: 2 },
    },
  })
  const staff = Array.from({ length: 200 }, (_, i) => ({ lastName: `number ${i}` }))
  t.equal((await server.post('/Employee?$method=update&$attributes=ID', staff)).status, 200)
  t.match((await server.get('/Employee?$attributes=pace&$top=200')).json.__ERROR[0].message, /deadline of 2 s/)
  t.equal((await server.get('/Employee(1)?$attributes=pace')).json.pace, 20)
  t.equal((await server.post('/Employee?$method=update&$attributes=ID', { lastName: 'for ever' })).status, 200)
  const last = '/Employee?$filter="lastName = \'for ever\'"&$attributes=pace'
  t.match((await server.get(last)).json.__ERROR[0].message, /deadline of 2 s/)
  t.match((await server.get(last)).json.__ERROR[0].message, /is not called/)
})

t.test('code that ends its thread after its result counts against its function', async t => {
  const server = await start(t, { breakerLimit: 1 })
  const status = async () => (await server.post('/$catalog/exitsInResult')).status
  t.same([await status(), await status()], [500, 503])
})

t.test('calls beyond the queue limit are refused', async t => {
  const server = await start(t, { queueLimit: 2 })
  await server.post('/$catalog/fine')
  const slow = server.post('/$catalog/loops')
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.post('/$catalog/fine')))
  const refused = answers.filter(({ status }) => status === 503)
  t.ok(refused.length > 0)
  t.ok(refused.every(({ headers }) => headers['retry-after'] === '1'))
  t.equal((await slow).status, 503)
})

t.test('a server can stop while functions run', async t => {
  const server = await start(t)
  const slow = server.post('/$catalog/blocks').catch(() => undefined)
  await server.get('/Employee(1)')
  await server.close()
  t.ok(await slow.then(() => true))
})
