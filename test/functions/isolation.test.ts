import { isLong } from '../support/reference/rounds.ts'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { startServer } from '../support/test-server.ts'
import { abusePlugin } from '../support/test-plugins.ts'

/** In a row, of each abuse. */
const TIMES = isLong ? 20 : 1
/** Never refuses, so that each call really does it. */
const functions = { threads: 1, memoryBytes: '32 MiB', breakerLimit: 1_000 }
const start = (t: Test, more: object = {}) =>
  startServer(t, company, {
    config: { plugins: [abusePlugin], functions: { ...functions, ...more }, query: { maxAnswerBytes: 1_000_000 } },
  })

const abuses: { name: string; times: number; status: number; message?: RegExp; result?: string | number }[] = [
  { name: 'throws', times: TIMES, status: 500, message: /ds\.throws failed with Error/ },
  { name: 'loops', times: TIMES, status: 503, message: /ds\.loops was stopped: it may take 0\.05 s/ },
  { name: 'blocks', times: TIMES, status: 503, message: /it may take 0\.05 s/ },
  { name: 'eatsMemory', times: TIMES, status: 500, message: /more memory/ },
  { name: 'eatsOneArray', times: 3, status: 500, message: /more memory/ },
  { name: 'eatsBuffers', times: 3, status: 500, message: /more memory/ },
  { name: 'leavesGarbage', times: 3, status: 200, result: 25_000_000 },
  { name: 'exits', times: TIMES, status: 500, message: /process\.exit/ },
  { name: 'recurses', times: TIMES, status: 500, message: /RangeError/ },
  { name: 'rejectsLater', times: TIMES, status: 200, result: 'for now' },
  { name: 'throwsLater', times: TIMES, status: 200, result: 'for now' },
  { name: 'listens', times: TIMES, status: 200, result: 'listening' },
  { name: 'isHuge', times: TIMES, status: 413 },
  { name: 'throwsNothing', times: 1, status: 500, message: /ds\.throwsNothing failed/ },
  { name: 'getterThrows', times: 1, status: 500, message: /ds\.getterThrows failed with Error/ },
  { name: 'trapsPrototypes', times: 1, status: 200, result: 'done' },
]

t.test('whatever a function does fails its own call only', async t => {
  const server = await start(t)
  for (const { name, times, status, message, result } of abuses) {
    await t.test(`${name}, ${times} times in a row`, async t => {
      for (let i = 0; i < times; i++) {
        const calling = server.post(`/$catalog/${name}`)
        // Another client, meanwhile.
        const read = await server.get('/Employee?$orderby="lastName"&$top=2')
        t.same(read.json.__ENTITIES?.length, 2, read.text.slice(0, 300))
        const answer = await calling
        t.equal(answer.status, status, answer.text.slice(0, 300))
        t.notMatch(answer.text, /inner secret|\.ts|node:/)
        if (result) t.equal(answer.json.result, result)
        if (message) t.match(answer.json.__ERROR[0].message, message)
      }
      t.equal((await server.post('/$catalog/fine')).json.result, 'fine')
    })
  }
})

t.test('a thread that loops behind an answer is replaced', async t => {
  const server = await start(t)
  t.equal((await server.post('/$catalog/loopsLater')).json.result, 'for now')
  t.equal((await server.post('/$catalog/fine')).json.result, 'fine')
})

t.test('calls that wait behind one that ends its thread are done all the same', async t => {
  const server = await start(t)
  const ending = Promise.all(['exits', 'loops', 'exits'].map(name => server.post(`/$catalog/${name}`)))
  const others = await Promise.all(Array.from({ length: 40 }, () => server.post('/$catalog/fine')))
  t.ok(others.every(({ json }) => json.result === 'fine'))
  t.same(
    (await ending).map(({ status }) => status),
    [500, 503, 500],
  )
})

t.test('with two threads nobody waits for a slow function', async t => {
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
    config: { plugins: [abusePlugin], functions: { threads: 1, breakerLimit: 3, breakerPauseSeconds: 10 } },
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

t.test('a singleton that ends its thread starts anew', async t => {
  const server = await start(t)
  const count = async () => (await server.post('/$singleton/Fragile/count1')).json.result
  t.same([await count(), await count()], [1, 2])
  t.equal((await server.post('/$singleton/Fragile/exits')).status, 500)
  t.equal(await count(), 1)
})

t.test('calls beyond the queue are refused', async t => {
  const server = await start(t, { queueLimit: 2 })
  await server.post('/$catalog/fine')
  const slow = server.post('/$catalog/loops')
  const answers = await Promise.all(Array.from({ length: 20 }, () => server.post('/$catalog/fine')))
  const refused = answers.filter(({ status }) => status === 503)
  t.ok(refused.length > 0)
  t.ok(refused.every(({ headers }) => headers['retry-after'] === '1'))
  t.equal((await slow).status, 503)
})

t.test('a server stops while functions run', async t => {
  const server = await start(t)
  const slow = server.post('/$catalog/blocks').catch(() => undefined)
  await server.get('/Employee(1)')
  await server.close()
  t.ok(await slow.then(() => true))
})
