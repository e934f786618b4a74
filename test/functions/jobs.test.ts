import t, { type Test } from 'tap'
import { Jobs } from '../../kernel/cli/jobs.ts'
import { company } from '../support/fixtures/company.ts'
import { openGate } from '../support/services/gate.ts'
import { queuedPlugin } from '../support/plugins/test-plugins.ts'
import { startServer, temporaryFolder, type TestServer } from '../support/servers/test-server.ts'

const CONFIG = {
  auth: { guestsAdministrate: true },
  plugins: [queuedPlugin],
  functions: { threads: 1, breakerLimit: 1_000 },
}
const start = (t: Test, options: object = {}): Promise<TestServer> =>
  startServer(t, company, {
    ...options,
    config: {
      auth: { guestsAdministrate: true },
      plugins: [queuedPlugin],
      functions: { threads: 1, breakerLimit: 1_000 },
    },
  })

const enqueue = async (server: TestServer, name: string, args: unknown[] = [], options: object = {}): Promise<string> =>
  (await server.post('/$catalog/put', [name, args, options])).json.result

const LINES = '/Line?$attributes=text&$asArray=true&$top=1000&$filter="text != every"&$orderby=ID'

async function lines(server: TestServer): Promise<string[]> {
  const { json } = await server.get(LINES.replaceAll(' ', '%20'))
  return (json as { text: string }[]).map(({ text }) => text)
}

/** Waits until a job has one of these states. */
async function until(server: TestServer, id: string, ...states: string[]) {
  for (;;) {
    const { json } = await server.get(`/$jobs/${id}`)
    if (states.includes(json.state)) return json
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

const cases: readonly {
  job: string
  args?: unknown[]
  options?: object
  state?: string
  attempts?: number
  error?: RegExp
  lines: string[]
}[] = [
  { job: 'ds.write', args: ['a'], lines: ['a'] },
  { job: 'ds.write', args: ['at', 2], options: { at: 1 }, lines: ['at', 'at'] },
  { job: 'Order.ship', args: [7], lines: ['shipped 7 false'] },
  { job: 'Counter.counts', lines: ['counted 1'] },
  { job: 'Counter.counts', lines: ['counted 2'] },
  { job: 'ds.fails', args: ['f', 3], attempts: 3, lines: ['f 1', 'f 2', 'f 3'] },
  {
    job: 'ds.fails',
    args: ['g', 4],
    options: { key: 'k' },
    state: 'failed',
    attempts: 3,
    error: /^Error: attempt 3$/,
    lines: ['gk 1', 'gk 2', 'gk 3'],
  },
  {
    job: 'ds.exits',
    state: 'failed',
    error: /^the function ds.exits was stopped: its code ended the thread/,
    lines: [],
  },
  { job: 'ds.loops', state: 'failed', error: /deadline of 0.2 s/, lines: [] },
  { job: 'ds.who', lines: ['[true,"",""]'] },
  { job: 'ds.returnsOdd', lines: [] },
  // Values of clients stay values.
  {
    job: 'ds.shows',
    args: [{ __ENTITY: true, __DATACLASS: 'City', __KEY: 'Paris' }],
    lines: ['{"__ENTITY":true,"__DATACLASS":"City","__KEY":"Paris"}'],
  },
  { job: 'ds.shows', args: [{ __DATASET: 'x' }], lines: ['{"__DATASET":"x"}'] },
]

t.test('a job of each class runs to its end', async t => {
  const server = await start(t)
  let before = 0
  for (const { job, args, options, state = 'done', attempts = 1, error, lines: expected } of cases) {
    const id = await enqueue(server, job, args, options)
    const ended = await until(server, id, 'done', 'failed')
    t.match(ended, { id, job, state, attempts, ...(error && { error }) }, `${job} ${JSON.stringify(args ?? [])}`)
    const all = await lines(server)
    t.same(all.slice(before), expected)
    before = all.length
  }
})

t.test('a job is enqueued with the write that it belongs to, or not at all', async t => {
  const server = await start(t)
  const save = (order: object | object[], query = '') => server.post(`/Order?$method=update${query}`, order)
  const steps: readonly [what: string, act: () => Promise<unknown>, expected: string[]][] = [
    ['a transaction', () => server.post('/$catalog/transacts', ['kept']), ['saved kept', 'job kept']],
    ['one that is undone', () => server.post('/$catalog/transacts', ['undone']), []],
    ['one that throws', () => server.post('/$catalog/transacts', ['fails']), []],
    ['the event of a save', () => save({ ID: 1, state: 'new' }), ['shipped 1 true']],
    ['a save that the event refuses', () => save({ ID: 2, state: 'refused' }), []],
    ['a save of an existing key', () => save({ ID: 1, state: 'again' }), []],
    ['a stale save', () => save({ __KEY: '1', __STAMP: 9, state: 'stale' }), []],
    ['a preview', () => save({ ID: 3, state: 'new' }, '&$refresh=true'), []],
    ['a validation', () => server.post('/Order?$method=validate', { ID: 3, state: 'new' }), []],
    ['some of several saves', () => save([{ ID: 4 }, { ID: 1 }, { ID: 5 }]), ['shipped 4 true', 'shipped 5 true']],
    ['saves of which one fails, together', () => save([{ ID: 6 }, { ID: 1 }], '&$atomic=true'), []],
    ['saves together', () => save([{ ID: 6 }, { ID: 7 }], '&$atomic=true'), ['shipped 6 true', 'shipped 7 true']],
    ['a transaction in an event', () => save({ ID: 8, state: 'nested' }), ['shipped 8 true']],
    ['a deletion', () => server.post('/Order(4)?$method=delete'), ['dropped 4', 'gone dropping']],
    [
      'a deletion of several',
      () => server.post('/Order?$method=delete&$filter="ID%20>=%207"'),
      ['dropped 7', 'dropped 8', 'gone dropping', 'gone dropping'],
    ],
  ]
  let before = 0
  for (const [what, act, expected] of steps) {
    await act()
    // A job that is enqueued after them all ends after them all.
    await until(server, await enqueue(server, 'ds.one', ['end'], { priority: -99 }), 'done')
    await settled(server)
    const all = await lines(server)
    t.same(
      all
        .slice(before)
        .filter(line => line !== 'end')
        .sort(),
      [...expected].sort(),
      what,
    )
    before = all.length
  }
  const { ID } = (await server.post('/Line?$method=update', { text: 'numbered' })).json
  await settled(server)
  t.ok((await lines(server)).includes(`${ID} numbered`), 'the entity that is saved, whose key is not known before')
  await save({ ID: 9, state: 'kept' })
  await settled(server)
  await server.post('/Order(9)?$method=delete')
  await settled(server)
  t.notOk((await lines(server)).includes('dropped 9'), 'a deletion that the event refuses')
})

/** Waits until each job has ended. */
async function settled(server: TestServer): Promise<void> {
  for (;;) {
    const { counts } = (await server.get('/$jobs')).json
    if (counts.ready + counts.running === 0) return
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

t.test('a key stands for one job', async t => {
  const server = await start(t)
  const { result } = (await server.post('/$catalog/enqueueTwo', ['once'])).json
  t.equal(result[0], result[1])
  await until(server, result[0], 'done')
  t.equal(await enqueue(server, 'ds.write', ['again'], { key: '1' }), result[0], 'while the job is kept')
  t.not(await enqueue(server, 'ds.one', ['other'], { key: '1' }), result[0], 'of another function')
  const halves = await Promise.all(
    ['\ud800', '\udfff', '\ufffd'].map(key => enqueue(server, 'ds.one', ['half'], { key })),
  )
  t.equal(new Set(halves).size, 3, 'halves of characters are different keys')
  await server.send('DELETE', `/$jobs/${result[0]}`)
  t.match(await server.get(`/$jobs/${result[0]}`), { status: 404 })
  const later = await enqueue(server, 'ds.write', ['later'], { key: '1' })
  t.not(later, result[0])
  await until(server, later, 'done')
  await settled(server)
  t.same((await lines(server)).sort(), ['half', 'half', 'half', 'later', 'once', 'other'])
})

t.test('jobs run in the order of their priorities, as many at a time as their function allows', async t => {
  const server = await start(t)
  const gate = await openGate(t)
  const ids: string[] = []
  for (let i = 0; i < 10; i++)
    ids.push(await enqueue(server, 'ds.asks', [`${gate.url}?${i}`, `${i}`], { priority: i === 9 ? 5 : 0 }))
  await gate.arrived(8)
  t.same((await server.get('/$jobs')).json.counts, { ...NONE, running: 8, ready: 2 })
  const { jobs } = (await server.get('/$jobs/ready')).json
  t.same(
    jobs.map(({ args }: { args: string[] }) => args[1]),
    ['9', '8'],
  )
  t.match(await until(server, ids[0]!, 'running'), { progress: { asking: '0' }, begun: /Z$/ })
  gate.open('go', true)
  for (const id of ids) await until(server, id, 'done')
  t.same((await lines(server)).sort(), ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
})

const NONE = { waiting: 0, ready: 0, running: 0, done: 0, failed: 0, cancelled: 0 }

t.test('jobs are listed, cancelled, replayed and removed', async t => {
  const server = await start(t)
  const gate = await openGate(t)
  const running = await enqueue(server, 'ds.asks', [gate.url, 'asked'])
  await gate.arrived()
  const later = await enqueue(server, 'ds.write', ['later'], { at: '2100-01-01 02:00+02' })
  const failing = await enqueue(server, 'ds.fails', ['x', 4])
  await until(server, failing, 'failed')
  const unknown = '0'.repeat(32)
  const post = (path: string) => server.post(`/$jobs/${path}`)
  const drop = (path: string) => server.send('DELETE', `/$jobs/${path}`)
  const steps: readonly [what: string, act: () => Promise<unknown>, expected: object][] = [
    [
      'those that wait',
      () => server.get('/$jobs/waiting'),
      { status: 200, json: { jobs: [{ id: later, due: '2100-01-01T00:00:00.000Z' }] } },
    ],
    ['of a function', () => server.get('/$jobs/failed/ds.fails'), { json: { jobs: [{ id: failing, attempts: 3 }] } }],
    ['of another one', () => server.get('/$jobs/failed/ds.write'), { json: { jobs: [] } }],
    [
      'of an unknown one',
      () => server.get('/$jobs/failed/ds.fail'),
      {
        status: 404,
        json: {
          __ERROR: [{ message: 'no class has the job "ds.fail", and there is no job of it; did you mean "ds.fails"?' }],
        },
      },
    ],
    [
      'of one like no other',
      () => post('failed/Nothing.atAll/replay'),
      { status: 404, json: { __ERROR: [{ message: /; \/\$jobs lists the functions$/ }] } },
    ],
    ['a page', () => server.get('/$jobs/failed?$top=1&$skip=1'), { json: { jobs: [] } }],
    [
      'a page of no length',
      () => server.get('/$jobs/failed?$top=x'),
      { status: 400, json: { __ERROR: [{ errCode: 1806 }] } },
    ],
    ['a page before the first', () => server.get('/$jobs/failed?$skip=-1'), { status: 400 }],
    ['an unknown one', () => server.get(`/$jobs/${unknown}`), { status: 404, json: { __ERROR: [{ errCode: 1543 }] } }],
    [
      'an unknown part',
      () => server.get('/$jobs/old'),
      { status: 404, json: { __ERROR: [{ message: /followed by the id of a job/ }] } },
    ],
    [
      'an unknown action',
      () => post(`${later}/stop`),
      { status: 404, json: { __ERROR: [{ message: /^\$jobs has no action "stop"/ }] } },
    ],
    ['another verb', () => drop('failed/replay'), { status: 404, json: { __ERROR: [{ errCode: 1806 }] } }],
    ['further parts', () => post('failed/ds.fails/now/replay'), { status: 404 }],
    ['all of them', () => server.post('/$jobs'), { status: 404 }],
    ['an action of a state', () => post('done/replay'), { status: 404, json: { __ERROR: [{ errCode: 1806 }] } }],
    ['an unknown one again', () => post(`${unknown}/replay`), { status: 404 }],
    [
      'what waits is not replayed',
      () => post(`${later}/replay`),
      { status: 409, json: { __ERROR: [{ message: /is waiting: it cannot be replayed/ }] } },
    ],
    ['nor removed', () => drop(later), { status: 409 }],
    ['it is cancelled', () => post(`${later}/cancel`), { status: 200, json: { state: 'cancelled', ended: /Z$/ } }],
    ['once', () => post(`${later}/cancel`), { status: 409 }],
    ['and replayed', () => post(`${later}/replay`), { status: 200, json: { id: later } }],
    ['what runs is cancelled', () => post(`${running}/cancel`), { status: 200 }],
    ['all that have failed run again', () => post('failed/replay'), { json: { count: 1 } }],
  ]
  for (const [what, act, expected] of steps) t.match(await act(), expected, what)
  await until(server, running, 'cancelled')
  await until(server, later, 'done')
  t.match(await until(server, failing, 'failed'), { attempts: 3 })
  t.match(await post('failed/ds.fails/replay'), { json: { count: 1 } })
  await until(server, failing, 'failed')
  t.match(await drop(failing), { status: 200, json: { ok: true } })
  t.match(await server.get(`/$jobs/${failing}`), { status: 404 })
  t.same((await lines(server)).sort(), ['later', ...[1, 2, 3].flatMap(i => [`x ${i}`, `x ${i}`, `x ${i}`])])
})

t.test('a server goes on with the jobs of the previous one', async t => {
  const folder = temporaryFolder(t)
  let time = Date.parse('2030-12-31T22:59:00Z')
  const now = () => time
  const gate = await openGate(t)
  const first = await start(t, { folder, now })
  const running = await enqueue(first, 'ds.asks', [gate.url, 'asked'])
  await gate.arrived()
  const later = await enqueue(first, 'ds.write', ['later'], { at: '2030-12-31T23:30:00Z' })
  await first.close()
  // A yearly time passes while no server runs.
  time = Date.parse('2031-01-01T01:00:00Z')
  gate.open('again', true)
  const second = await startServer(t, { ...company, rows: {} }, { folder, now, config: CONFIG })
  t.match(await until(second, running, 'done'), { attempts: 1 })
  await until(second, later, 'done')
  for (;;) if ((await second.get('/$jobs/done/ds.yearly')).json.jobs.length === 1) break
  t.same((await lines(second)).sort(), ['asked', 'later', 'yearly'])
})

const refused: readonly [what: string, error: RegExp][] = [
  ['function', /^the first argument of ds.enqueue is a function with @job/],
  ['text', /^the first argument of ds.enqueue/],
  ['notJob', /^the first argument of ds.enqueue/],
  ['args', /^the job ds.write cannot be enqueued: the second argument is an array/],
  ['bigint', /entities and values as in JSON; received 1n$/],
  ['entity', /entities and values as in JSON; received an entity inside of another value$/],
  ['unsaved', /received an entity of Line that has not been saved$/],
  ['selection', /entities and values as in JSON; received a selection of Line$/],
  ['long', /may have 65536 characters as JSON; received 70004/],
  ['deep', /cannot be enqueued: .*(deep|levels)/],
  ['many', /it may have 100 arguments$/],
  ['prototype', /an object has the key "__proto__"$/],
  ['priority', /priority is an integer from -99 to 99; received 100$/],
  ['at', /at is a Date, milliseconds or a text such as "2026-01-31T15:23:00Z"; received 'soon'$/],
  ['key', /key is a text or a number; received ''$/],
]

t.test('what cannot be enqueued is refused with the reason, and a job is no function for clients', async t => {
  const server = await start(t)
  for (const [what, message] of refused)
    t.match((await server.post('/$catalog/bad', [what])).json, { __ERROR: [{ message }] }, what)
  t.match(await server.post('/$catalog/write', ['a']), { status: 404 })
  t.match(await server.post('/Order/ship', [1]), { status: 404 })
  t.same((await server.get('/$jobs')).json.counts, NONE)
})

t.test('jobs are for administrators', async t => {
  const server = await startServer(t, company, { config: { plugins: [queuedPlugin], functions: { threads: 1 } } })
  for (const method of ['GET', 'POST', 'DELETE'] as const)
    t.match(await server.send(method, '/$jobs'), { status: 401, json: { __ERROR: [{ errCode: 1611 }] } }, method)
})

t.test('tesser jobs lists, shows, replays and cancels', async t => {
  const server = await start(t)
  const failing = await enqueue(server, 'ds.fails', ['x', 4])
  const later = await enqueue(server, 'ds.write', ['later'], { at: '2100-01-01' })
  await until(server, failing, 'failed')
  const printed: string[] = []
  const jobs = new Jobs({ url: server.url }, line => printed.push(line))
  const steps: readonly [act: () => Promise<void>, expected: (string | RegExp)[]][] = [
    [
      () => jobs.list('failed', { job: 'ds.fails', top: '5' }),
      [/^ {2}id +job +time/, new RegExp(`^  ${failing}  ds.fails  \\S+Z  3 `), '1 job'],
    ],
    [() => jobs.list('done', { job: undefined, top: '5' }), ['0 jobs']],
    [() => jobs.show(later), [/"due": "2100-01-01T00:00:00.000Z"/]],
    [() => jobs.cancel(later), [`the job ${later} is cancelled`]],
    [() => jobs.replay(later), ['1 job will run again']],
    [() => jobs.replay('failed', 'ds.write'), ['0 jobs will run again']],
  ]
  for (const [act, expected] of steps) {
    printed.length = 0
    await act()
    t.match(printed, expected)
  }
  printed.length = 0
  await jobs.summary()
  t.match(printed.join('\n'), /ds\.yearly +queued +0 0 1 1 \* \(\d{4}-\d\d-\d\dT.*Z\)[\s\S]*1 failed, 0 cancelled$/)
  const refused: readonly [act: () => Promise<void>, message: RegExp][] = [
    [() => jobs.list('old', { job: undefined, top: '5' }), /^\$jobs has no part "old"/],
    [() => jobs.list('done', { job: 'ds.writes', top: '5' }), /did you mean "ds.write"\?$/],
    [() => jobs.summary('ds.write'), /^--job needs a state: tesser jobs list failed --job ds\.write$/],
    [() => jobs.cancel('failed'), /^"failed" is not the id of a job; tesser jobs list with a state/],
    [() => jobs.show('../x'), /^"\.\.\/x" is not the id of a job;/],
    [() => jobs.replay('done'), /^"done" is not the id of a job or "failed";/],
    [() => jobs.replay(later, 'ds.write'), /^--job is for all of a function/],
  ]
  for (const [act, message] of refused) await t.rejects(act(), { message })
})

t.test(
  'a job that waits for a thread is cancelled, and one that waits when the server stops runs afterwards',
  async t => {
    const folder = temporaryFolder(t)
    const first = await start(t, { folder })
    // Only this thread of functions could enqueue; the kernel can replay meanwhile.
    const prepared = async (name: string, args: unknown[] = []) => {
      const id = await enqueue(first, name, args, { at: '2100-01-01' })
      await first.post(`/$jobs/${id}/cancel`)
      return id
    }
    const holds = async () => until(first, await enqueue(first, 'ds.blocks', [600]), 'running')
    const replay = async (id: string) => {
      await first.post(`/$jobs/${id}/replay`)
      await until(first, id, 'running')
    }
    const cancelled = await prepared('ds.who')
    const waiting = await prepared('ds.write', ['late'])
    const single = await prepared('ds.shows', ['once'])
    await holds()
    await replay(cancelled)
    await first.post(`/$jobs/${cancelled}/cancel`)
    await until(first, cancelled, 'cancelled')
    await replay(waiting)
    await replay(single)
    await first.close()
    const second = await startServer(t, { ...company, rows: {} }, { folder, config: CONFIG })
    await until(second, waiting, 'done')
    t.match(await until(second, single, 'done', 'failed'), { state: 'done', attempts: 1 })
    t.same((await lines(second)).sort(), ['"once"', 'late'])
  },
)

t.test('of all functions, the jobs with the highest priority run first, then the oldest', async t => {
  const jobs = { plugin: 'tesser/plugins/jobs', options: { concurrency: 1 } }
  const config = { ...CONFIG, plugins: [jobs, queuedPlugin] }
  const server = await startServer(t, company, { config })
  const gate = await openGate(t)
  await enqueue(server, 'ds.asks', [gate.url, 'asked'])
  await gate.arrived()
  await enqueue(server, 'ds.write', ['1'])
  await enqueue(server, 'Order.ship', [2])
  await enqueue(server, 'ds.write', ['3'])
  await enqueue(server, 'ds.one', ['first'], { priority: 99 })
  gate.open()
  await settled(server)
  t.same(await lines(server), ['asked', 'first', '1', 'shipped 2 false', '3'])
})

t.test('a clock that was ahead once delays no schedule', async t => {
  const folder = temporaryFolder(t)
  const next = async (time: string, rows: object) => {
    const now = () => Date.parse(time)
    const server = await startServer(t, { ...company, ...rows }, { folder, now, config: CONFIG })
    for (;;) {
      const { functions } = (await server.get('/$jobs')).json
      const [{ next } = {}] = functions.find(({ job }: { job: string }) => job === 'ds.yearly').schedules
      if (next === undefined) continue
      await server.close()
      return next
    }
  }
  t.equal(await next('2040-06-01T00:00:00Z', {}), '2040-12-31T23:00:00.000Z')
  // The first answer may come before the times are compared.
  let found = ''
  while (found !== '2030-12-31T23:00:00.000Z') found = await next('2030-06-01T00:00:00Z', { rows: {} })
  t.pass('it is computed again')
})
