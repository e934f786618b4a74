/** Jobs: how they are enqueued, run and repeated. */
import t from 'tap'
import { openGate } from '../support/services/gate.ts'
import { enqueue, lines, settled, start, until } from './jobs-server.ts'

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
