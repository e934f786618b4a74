import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { openGate } from '../support/gate.ts'
import { queuedPlugin } from '../support/test-plugins.ts'
import { startServer, type TestServer } from '../support/test-server.ts'

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
    error: /^the function ds.fails failed with Error/,
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
