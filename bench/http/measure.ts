import { Client } from 'undici'
import type { DriveResult } from '../load/drive.ts'
import type { Child } from '../processes/child.ts'
import type { BoundQuestions, FixedAnswers, LoadQuestions, ServerQuestions } from '../processes/questions.ts'
import { type HttpResult, median, type TargetFigures } from '../report/report.ts'
import type { World } from '../world/world.ts'
import { problemOf } from './check.ts'
import {
  type Address,
  baselinePath,
  type HttpCase,
  oursPath,
  type Requests,
  requestsFor,
  TARGETS,
  type Target,
} from './http-case.ts'

interface Server {
  child: Child<ServerQuestions>
  port: number
}
/** Targets whose answers are checked. The bound sends the answers of our server, so it needs no check. */
type Checked = Exclude<Target, 'bound'>

interface Setup {
  world: World
  /** Servers by target; the PostgreSQL ones are missing if PostgreSQL is not installed. */
  servers: Record<Exclude<Target, 'postgres' | 'remote'>, Server> & Partial<Record<'postgres' | 'remote', Server>>
  bound: Child<BoundQuestions>
  load: Child<LoadQuestions>
  seconds: number
  rounds: number
  warmUpSeconds: number
  connections: number
}

/** Number of answers per server that are compared with the expected ones; in a case that writes, these are the first answers. */
const CHECKED = { read: 12, write: 2 }
const COLLECT_SECONDS = 5

/** Checks the answers of a case, then measures the servers in alternation. */
export async function measureHttpCase(bench: HttpCase, setup: Setup): Promise<HttpResult> {
  const { name, title, goals, inserts = 0 } = bench
  const run = new CaseRun(bench, setup)
  const result = { name, title, goals, rowsPerRequest: Math.max(1, inserts), targets: {} }
  try {
    const before = await run.counts()
    const problem = await run.check()
    if (problem) return { ...result, problem }
    const targets = await run.measure()
    const wrong = inserts > 0 ? await run.missingRows(before) : undefined
    return { ...result, targets, problem: run.errors[0] ?? wrong }
  } catch (error) {
    return { ...result, problem: (error as Error).message }
  } finally {
    await run.close()
  }
}

class CaseRun {
  readonly errors: string[] = []
  private readonly targets: readonly Target[]
  private readonly clients: ReadonlyMap<Checked, Client>
  /** Number of the next request for each server. */
  private readonly next: Record<Target, number> = { ours: 0, baseline: 0, postgres: 0, remote: 0, bound: 0 }
  /** Number of answered requests. */
  private readonly answerCounts: Record<Target, number> = { ours: 0, baseline: 0, postgres: 0, remote: 0, bound: 0 }
  private lengths: number[] = []

  constructor(
    private readonly bench: HttpCase,
    private readonly setup: Setup,
  ) {
    const isPostgres = (target: Target) => target === 'postgres' || target === 'remote'
    this.targets = TARGETS.filter(target => !isPostgres(target) || (bench.postgres && setup.servers[target]))
    this.clients = new Map(
      this.targets.flatMap(target => {
        if (target === 'bound') return []
        const url = `http://127.0.0.1:${this.server(target).port}`
        return [[target, new Client(url, { bodyTimeout: 0, headersTimeout: 0 })]]
      }),
    )
  }

  async close(): Promise<void> {
    await Promise.all([...this.clients.values()].map(client => client.close()))
  }

  private server(target: Target): Server {
    return this.setup.servers[target]!
  }

  /** Compares answers with the expected ones, and gives the bound its answers. @returns the problem found */
  async check(): Promise<string | undefined> {
    const { bench, setup } = this
    const requests = bench.requests(setup.world)
    const checkCount = Math.min(CHECKED[bench.kind], requests.size)
    const answers: FixedAnswers = new Map()
    for (let n = 0; n < checkCount; n++) {
      const request = requests.at(n)
      const expectation = request.expected()
      for (const target of this.clients.keys()) {
        const address = request[requestsFor(target)]
        const answer = await this.ask(target, address)
        const problem = problemOf(setup.world, expectation, JSON.parse(answer.toString()))
        if (problem) return `wrong answer of ${target} to ${address.path.slice(0, 200)}: ${problem}`
        this.next[target]++
        this.answerCounts[target]++
        if (target === 'ours') answers.set(undefined, answer)
      }
    }
    if (bench.kind === 'read') await this.collect(requests, answers)
    await setup.bound.ask('answers', answers)
    return undefined
  }

  /** Collects the answers of our server to all requests of the case, or to as many as time allows. */
  private async collect(requests: Requests, answers: FixedAnswers): Promise<void> {
    const startedAt = performance.now()
    for (let n = 0; n < requests.size && performance.now() - startedAt < COLLECT_SECONDS * 1000; n++) {
      const { ours } = requests.at(n)
      const answer = await this.ask('ours', ours)
      this.lengths.push(answer.length)
      answers.set(ours.path, answer)
    }
  }

  /** Runs rounds of each server in turn, after a warm-up of each. */
  async measure(): Promise<Partial<Record<Target, TargetFigures>>> {
    const { seconds, rounds, warmUpSeconds } = this.setup
    const results: Record<Target, DriveResult[]> = { ours: [], baseline: [], postgres: [], remote: [], bound: [] }
    for (const target of this.targets) await this.drive(target, warmUpSeconds)
    for (let round = 0; round < rounds; round++) {
      for (const target of this.targets) results[target].push(await this.drive(target, seconds))
    }
    const figures: Partial<Record<Target, TargetFigures>> = {}
    for (const target of this.targets) {
      const memory = await this.server(target).child.ask('memory', null)
      figures[target] = { ...mediansOf(results[target], this.bench.inserts), memory }
    }
    return figures
  }

  private async drive(target: Target, seconds: number): Promise<DriveResult> {
    const { world, load, connections } = this.setup
    const result = await load.ask('drive', {
      case: this.bench.name,
      seed: world.seed,
      employees: world.employees,
      target,
      port: this.server(target).port,
      connections: this.bench.connections ?? connections,
      seconds,
      from: this.next[target],
      // The stamps of a database differ in length.
      lengths: target === 'ours' || target === 'bound' ? this.lengths : [],
    })
    this.next[target] = result.next
    this.answerCounts[target] += result.requests
    this.errors.push(...result.errors.map(error => `${target}: ${error}`))
    return result
  }

  /** Number of employees in each database. */
  async counts(): Promise<ReadonlyMap<Checked, number>> {
    const paths = { ours: oursPath('Employee', { $top: 1 }), baseline: baselinePath('employees/count') }
    const counts = new Map<Checked, number>()
    for (const target of this.clients.keys()) {
      const answer = await this.ask(target, { path: paths[requestsFor(target)] })
      counts.set(target, (JSON.parse(answer.toString()) as { __COUNT: number }).__COUNT)
    }
    return counts
  }

  /** Checks that every answered insert is in the database. @returns the problem found */
  async missingRows(before: ReadonlyMap<Checked, number>): Promise<string | undefined> {
    for (const [target, rows] of await this.counts()) {
      const expected = before.get(target)! + this.answerCounts[target] * this.bench.inserts!
      if (rows !== expected) return `${target} has ${rows} rows after the inserts and not ${expected}`
    }
    return undefined
  }

  private async ask(target: Checked, { path, body }: Address): Promise<Buffer> {
    const answer = await this.clients.get(target)!.request({
      path,
      method: body === undefined ? 'GET' : 'POST',
      ...(body !== undefined && { body, headers: { 'Content-Type': 'application/json' } }),
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    if (answer.statusCode === 200) return bytes
    throw new Error(
      `${target} answers ${answer.statusCode} to ${path.slice(0, 200)}: ${bytes.toString().slice(0, 200)}`,
    )
  }
}

/** Medians of the results. Rates count rows if a request writes several. */
function mediansOf(results: readonly DriveResult[], rowsPerRequest = 1): Omit<TargetFigures, 'memory'> {
  const of = (value: (result: DriveResult) => number) => median(results.map(value))
  const hasBeside = results.every(({ beside }) => beside)
  return {
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    perSecond: of(({ perSecond }) => perSecond * rowsPerRequest),
    p50Ms: of(({ p50Ms }) => p50Ms),
    p99Ms: of(({ p99Ms }) => p99Ms),
    rounds: results.map(({ perSecond }) => perSecond * rowsPerRequest),
    ...(hasBeside && {
      beside: {
        requests: results.reduce((sum, { beside }) => sum + beside!.requests, 0),
        perSecond: of(({ beside }) => beside!.perSecond),
        p50Ms: of(({ beside }) => beside!.p50Ms),
        p99Ms: of(({ beside }) => beside!.p99Ms),
      },
    }),
  }
}
