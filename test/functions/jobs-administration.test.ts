/** Jobs in the hands of administrators: listed, cancelled, replayed and removed. */
import t from 'tap'
import { Jobs } from '../../kernel/cli/jobs.ts'
import { company } from '../support/fixtures/company.ts'
import { openGate } from '../support/services/gate.ts'
import { queuedPlugin } from '../support/plugins/test-plugins.ts'
import { startServer } from '../support/servers/test-server.ts'
import { enqueue, lines, start, until } from './jobs-server.ts'

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
    [() => jobs.replay(later, 'ds.write'), /^--job is for all failed jobs of a function/],
  ]
  for (const [act, message] of refused) await t.rejects(act(), { message })
})
