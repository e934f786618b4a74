import { setImmediate as turn } from 'node:timers/promises'
import { idOfPlace, isJobId, JOB_STATES, type Job, type JobState, suggestion } from '../../engine/index.ts'
import {
  definePlugin,
  gauge,
  json,
  type Metric,
  type PluginEngine,
  type Reply,
  type RestRequest,
  Type,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { describeFunction, describeJob } from './describe.ts'
import { JobErrors } from './errors.ts'
import { OPERATIONS } from './operations.ts'
import { JobRunner } from './job-runner.ts'
import { readSchedules } from './schedules.ts'

/**
 * Jobs: calls of functions with `@job` that `ds.enqueue` has put into the queue, or a `@schedule`. The queue is part of the store. For
 * administrators, like `$info`.
 *
 *   GET    /$jobs                 →  { "functions": [{ "job": "Ticket.embed", "schedules": [{ "pattern", "next" }], … }],
 *                                      "counts": { "waiting": 3, "ready": 0, "running": 1, "done": 250, "failed": 2, "cancelled": 0 } }
 *   GET    /$jobs/failed          →  { "jobs": [{ "id", "job", "state", "args", "attempts", "error", "ended", … }] }, the newest first;
 *                                      with $top and $skip. /$jobs/failed/Ticket.embed: jobs of one function
 *   GET    /$jobs/{id}            →  the job, with the progress that it reports
 *   POST   /$jobs/{id}/cancel     →  a waiting job is not run; a running one gets its signal
 *   POST   /$jobs/{id}/replay     →  a failed or ended job runs again
 *   POST   /$jobs/failed/replay   →  { "count": 2 }: all failed jobs. /$jobs/failed/Ticket.embed/replay: jobs of one function
 *   DELETE /$jobs/{id}            →  an ended job is removed
 *
 * Each job runs at least once, and again after a pause if it fails. It is part of the transaction that enqueues it.
 */
export default definePlugin({
  name: 'jobs',
  kernel: '^1.0.0',
  options: Type.Object({
    concurrency: Type.Integer({
      default: 64,
      minimum: 1,
      description: 'Maximum number of jobs that run at the same time.',
    }),
    keepDone: Type.Integer({
      default: 10_000,
      minimum: 0,
      description: 'Number of completed jobs to keep.',
    }),
    keepDoneHours: Type.Number({
      default: 24,
      minimum: 0,
      description: 'Age in hours at which completed and cancelled jobs are removed.',
    }),
    keepFailedDays: Type.Number({
      default: 90,
      minimum: 0,
      description: 'Age in days at which failed jobs are removed.',
    }),
  }),
  async register({ service, engine, log, metrics, now, onReady, onClose }, options) {
    const { jobs } = engine
    const { concurrency, keepDone, keepDoneHours, keepFailedDays } = options
    const keepDoneMs = keepDoneHours * 3_600_000
    const keepFailedMs = keepFailedDays * 86_400_000
    // Without functions, no job could run.
    const functions = [...jobs.declared.values()]
    const schedules = await readSchedules(functions)
    const runner =
      functions.length > 0
        ? new JobRunner({ jobs, schedules, log, now, concurrency, keepDone, keepDoneMs, keepFailedMs })
        : undefined
    if (runner) {
      onReady(() => runner.wake())
      onClose(() => runner.close())
      metrics.add(async () => metricsOf(runner, jobs, now()))
    }

    const describe = (job: Job): object => describeJob(job, runner?.progressOf(job.id))
    const answer = async (request: RestRequest): Promise<object> => {
      const [first, ...rest] = request.parts
      const isGet = request.verb === 'GET' || request.verb === 'HEAD'
      if (first === undefined) {
        if (!isGet) throw JobErrors.UNKNOWN_ACTION(request.verb)
        const descriptions = functions.map(each => describeFunction(each, schedules.values(), runner))
        return {
          functions: descriptions,
          counts: jobs.counts(MAX_COUNT),
        }
      }
      if (isJobId(first)) {
        if (rest.length > (isGet ? 0 : 1)) throw JobErrors.UNKNOWN_ACTION(rest.join('/').slice(0, 100))
        return isGet ? describe(demandJob(jobs, first)) : change(first, actionOf(request, rest[0]))
      }
      if (!isState(first)) throw JobErrors.UNKNOWN_PART(first.slice(0, 100))
      if (isGet) {
        if (rest.length > 1) throw JobErrors.UNKNOWN_ACTION(rest.slice(1).join('/').slice(0, 100))
        return { jobs: (await page(jobs, first, rest[0], request)).map(describe) }
      }
      const action = rest.pop()
      if (request.verb !== 'POST' || action !== 'replay' || first !== 'failed' || rest.length > 1)
        throw JobErrors.UNKNOWN_ACTION((action ?? request.verb).slice(0, 100))
      return replayAll(rest[0])
    }

    const change = async (id: string, action: Action): Promise<object> => {
      const job = demandJob(jobs, id)
      if (action === 'replay' && !jobs.declared.has(job.name)) throw JobErrors.UNKNOWN_FUNCTION(job.name)
      if (!(await runner?.[action](id))) throw JobErrors.WRONG_STATE(id, demandJob(jobs, id).state, PARTICIPLES[action])
      return action === 'remove' ? { ok: true } : describe(demandJob(jobs, id))
    }

    const replayAll = async (name: string | undefined): Promise<object> => {
      let count = 0
      for (const job of await select(jobs, 'failed', name, MAX_COUNT))
        if (jobs.declared.has(job.name) && (await runner?.replay(job.id))) count++
      return { count }
    }

    service('$jobs', JOBS, async (request: RestRequest): Promise<Reply> => json(await answer(request)))
  },
})

const JOBS: ServiceSpec = {
  verbs: ['GET', 'POST', 'DELETE'],
  administrators: true,
  doc: 'Jobs of plugins.',
  tag: 'server',
  operations: OPERATIONS,
}

/** Maximum number of jobs that are counted, and of jobs that are searched for the jobs of one function. */
const MAX_COUNT = 10_000
/** Number of jobs that are read before other requests are served. */
const SLICE = 200
const MAX_PAGE = 1_000
const PAGE = 100

type Action = 'cancel' | 'replay' | 'remove'
const PARTICIPLES: Readonly<Record<Action, string>> = { cancel: 'cancelled', replay: 'replayed', remove: 'removed' }

function actionOf({ verb }: RestRequest, part: string | undefined): Action {
  if (verb === 'DELETE' && part === undefined) return 'remove'
  if (verb === 'POST' && (part === 'cancel' || part === 'replay')) return part
  throw JobErrors.UNKNOWN_ACTION((part ?? verb).slice(0, 100))
}

const isState = (part: string): part is JobState => (JOB_STATES as readonly string[]).includes(part)

function demandJob(jobs: PluginEngine['jobs'], id: string): Job {
  const job = jobs.get(id)
  if (!job) throw JobErrors.NOT_FOUND(id)
  return job
}

/** Number of jobs in a parameter of the request, limited to `most`. @throws {JobErrors.NOT_A_COUNT} */
function count(request: RestRequest, parameter: string, otherwise: number, most: number): number {
  const text = request.parameter(parameter)
  if (text === undefined) return otherwise
  if (!/^\d+$/.test(text)) throw JobErrors.NOT_A_COUNT(parameter, text.slice(0, 100))
  return Math.min(most, Number(text))
}

async function page(
  jobs: PluginEngine['jobs'],
  state: JobState,
  name: string | undefined,
  request: RestRequest,
): Promise<Job[]> {
  const skip = count(request, '$skip', 0, MAX_COUNT)
  const top = count(request, '$top', PAGE, MAX_PAGE)
  return (await select(jobs, state, name, skip + top)).slice(skip, skip + top)
}

/**
 * Jobs in a state: ended jobs with the newest first, other jobs in the order of the queue.
 * @throws {ProtocolError} neither a class nor a job has this name
 */
async function select(
  jobs: PluginEngine['jobs'],
  state: JobState,
  name: string | undefined,
  limit: number,
): Promise<Job[]> {
  const matches = await find(jobs, state, name, limit)
  if (name === undefined || matches.length > 0 || jobs.declared.has(name)) return matches
  for (const each of JOB_STATES) if ((await find(jobs, each, name, 1)).length > 0) return matches
  const hint = suggestion(name, jobs.declared.keys()) || '; /$jobs lists the functions'
  throw JobErrors.UNKNOWN_JOB(name.slice(0, 100), hint)
}

async function find(
  jobs: PluginEngine['jobs'],
  state: JobState,
  name: string | undefined,
  limit: number,
): Promise<Job[]> {
  const isEnded = state === 'done' || state === 'failed' || state === 'cancelled'
  const ofName = state === 'ready' ? name : undefined
  const most = name === ofName ? limit : MAX_COUNT
  const places = isEnded ? jobs.lastPlaces(state, most) : jobs.places(state, most, ofName)
  const matches: Job[] = []
  for (const [i, place] of places.entries()) {
    if (matches.length >= limit) break
    if (i % SLICE === SLICE - 1) await turn()
    const job = jobs.get(idOfPlace(place))
    if (job && (name === undefined || job.name === name)) matches.push(job)
  }
  return matches
}

function metricsOf(runner: JobRunner, jobs: PluginEngine['jobs'], now: number): Metric[] {
  const oldest = [...jobs.declared.keys()].flatMap(name => {
    const [place] = jobs.places('ready', 1, name)
    const job = place === undefined ? undefined : jobs.get(idOfPlace(place))
    return job ? now - job.time : []
  })
  const counter = (name: string, help: string, value: number): Metric => ({
    name,
    help,
    type: 'counter',
    values: [{ labels: {}, value }],
  })
  return [
    gauge('jobs_running', 'Running jobs.', runner.runningCount),
    gauge(
      'jobs_delay_seconds',
      'Time that the oldest ready job has waited; 0 if no job is ready.',
      Math.max(0, ...oldest) / 1000,
    ),
    counter('jobs_done_total', 'Jobs completed since the start.', runner.counts.done),
    counter('jobs_failed_attempts_total', 'Failed attempts of jobs since the start.', runner.counts.failedAttempts),
    counter('jobs_failed_total', 'Jobs whose last attempt failed, since the start.', runner.counts.failed),
  ]
}
