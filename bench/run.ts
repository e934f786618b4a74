import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { OwnServerCase, OwnServerResult } from './own-server/own-server-case.ts'
import { OWN_SERVER_CASES } from './own-server/cases.ts'
import { measureOwnServerCase } from './own-server/measure.ts'
import { COMMAND_CASES } from './commands/cases.ts'
import { measureCommand } from './commands/command-case.ts'
import { ENGINE_CASES } from './engine/cases.ts'
import type { EngineResult } from './engine/engine-case.ts'
import type { Rounds } from './engine/measure.ts'
import { HTTP_CASES } from './http/cases.ts'
import type { HttpCase } from './http/http-case.ts'
import { measureHttpCase } from './http/measure.ts'
import { type Options, readOptions, USAGE, UsageError } from './options.ts'
import { Child, profileOptions } from './processes/child.ts'
import type { BoundQuestions, EngineQuestions, LoadQuestions, Memory, ServerQuestions } from './processes/questions.ts'
import { comparisonOf } from './report/compare.ts'
import { htmlOf } from './report/html.ts'
import { svgOf } from './report/svg.ts'
import { machine } from './report/machine.ts'
import { rate } from './report/numbers.ts'
import type { HttpResult, Report } from './report/report.ts'
import { tableOf } from './report/table.ts'
import { verdictsOf } from './report/verdict.ts'
import { findPostgres } from './postgres/installation.ts'
import { remotePlace } from './postgres/remote-place.ts'
import { copyWorld, newFolder, prepareWorld } from './world/prepare.ts'
import { attributeCount, rawBytesOf } from './world/raw-bytes.ts'
import { World } from './world/world.ts'

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Prints a line that the next one replaces, on a terminal. */
const progress = (line: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`)
}

async function run(options: Options): Promise<Report> {
  const isWanted = ({ name }: { name: string }) => options.cases.length === 0 || options.cases.includes(name)
  const world = new World(options.seed, options.employees)
  const isNamed = ({ name }: { name: string }) => options.cases.includes(name)
  const engineCases = ENGINE_CASES.filter(bench => (bench.isLong ? isNamed(bench) : isWanted(bench)))
  const httpCases = HTTP_CASES.filter(isWanted)
  const needsWorld = engineCases.length + httpCases.length > 0
  if (needsWorld) say(`world: ${world.employees} employees, seed ${world.seed}`)
  const folder = needsWorld ? await prepareWorld(world, progress) : ''
  const { seed, employees } = world
  const engine = await measureEngine(engineCases, () => ({ folder: copyWorld(folder), seed, employees }), options)
  const { http, memoryAfterReads, transport, readyMs } = await measureHttp(httpCases, world, folder, options)
  const ownServer = await measureOwnServers(OWN_SERVER_CASES.filter(isWanted), options)
  for (const bench of COMMAND_CASES.filter(isWanted))
    ownServer.push(printResult(await measureCommand(bench, world, options.rounds)))
  const { seconds, rounds, connections } = options
  return {
    version: 1,
    date: new Date().toISOString(),
    machine: machine(transport),
    world: {
      seed: world.seed,
      employees: world.employees,
      companies: world.companies,
      attributes: attributeCount(),
      rawBytes: rawBytesOf(world),
    },
    settings: { seconds, rounds, connections },
    http,
    engine,
    ownServer,
    memoryAfterReads,
    readyMs,
  }
}

async function measureEngine(
  cases: readonly { name: string }[],
  place: () => EngineQuestions['open']['question'],
  { seconds, rounds, warmUpSeconds }: Rounds,
): Promise<EngineResult[]> {
  if (cases.length === 0) return []
  const child = new Child<EngineQuestions>('engine')
  await child.ask('open', place())
  const results: EngineResult[] = []
  for (const { name } of cases) {
    const result = await child.ask('measure', { name, rounds: { seconds, rounds, warmUpSeconds } })
    const recall = result.recall === undefined ? '' : ` at recall ${result.recall.toFixed(4)}`
    say(`engine ${name}: ${result.problem ?? `${rate(result.perSecond)}/s${recall}`}`)
    results.push(result)
  }
  await child.stop()
  return results
}

async function measureHttp(
  cases: readonly HttpCase[],
  world: World,
  folder: string,
  options: Options,
): Promise<{
  http: HttpResult[]
  memoryAfterReads: Memory | undefined
  transport: string
  readyMs?: number | undefined
}> {
  if (cases.length === 0) return { http: [], memoryAfterReads: undefined, transport: 'no server' }
  const writes = cases.some(({ kind }) => kind === 'write')
  const place = { folder: writes ? copyWorld(folder) : folder, seed: world.seed, employees: world.employees }
  const ours = new Child<ServerQuestions>('ours', profileOptions(options.profile))
  const baseline = new Child<ServerQuestions>('baseline')
  const bound = new Child<BoundQuestions>('bound')
  const load = new Child<LoadQuestions>('load')
  // Started alone: the time until it is ready is measured.
  const { port, transport = '', readyMs } = await ours.ask('start', place)
  const [atBaseline, atBound] = await Promise.all([baseline.ask('start', place), bound.ask('start', place)])
  const inPostgres = cases.some(bench => bench.postgres) ? await startPostgres(world, options) : undefined
  const servers = {
    ours: { child: ours, port },
    baseline: { child: baseline, port: atBaseline.port },
    ...inPostgres,
    bound: { child: bound as Child<ServerQuestions>, port: atBound.port },
  }
  const http: HttpResult[] = []
  let memoryAfterReads: Memory | undefined
  for (const bench of cases) {
    const result = await measureHttpCase(bench, { ...options, world, servers, bound, load })
    http.push(result)
    if (bench.kind === 'read') memoryAfterReads = await ours.ask('memory', null)
    const rates = Object.entries(result.targets).map(([target, { perSecond }]) => `${target} ${rate(perSecond)}/s`)
    say(`${bench.name}: ${[...rates, result.problem ?? ''].join('  ')}`)
  }
  // Our server disconnects from the database before the database ends.
  await inPostgres?.remote.child.stop()
  const children = [ours, baseline, bound, load, ...(inPostgres ? [inPostgres.postgres.child] : [])]
  await Promise.all(children.map(child => (child as Child<ServerQuestions>).stop()))
  return { http, memoryAfterReads, transport, readyMs }
}

/**
 * Starts Fastify and our server with PostgreSQL, filled with the world. Prints a sentence and returns undefined if PostgreSQL is not
 * installed.
 */
async function startPostgres({ seed, employees }: World, { profile }: Options) {
  const installation = findPostgres()
  if ('missing' in installation) {
    say(`without PostgreSQL: ${installation.missing}`)
    return undefined
  }
  progress('making the PostgreSQL database')
  const postgres = new Child<ServerQuestions>('postgres')
  const remote = new Child<ServerQuestions>('ours', profileOptions(profile))
  try {
    const { port, url } = await postgres.ask('start', { folder: newFolder(), seed, employees })
    const atRemote = await remote.ask('start', { folder: remotePlace(url!), seed: 0, employees: 0 })
    progress('')
    return { postgres: { child: postgres, port }, remote: { child: remote, port: atRemote.port } }
  } catch (error) {
    say(`without PostgreSQL: ${(error as Error).message}`)
    await Promise.all([postgres.stop(), remote.stop()])
    return undefined
  }
}

async function measureOwnServers(cases: readonly OwnServerCase[], options: Options): Promise<OwnServerResult[]> {
  const results: OwnServerResult[] = []
  const installation = findPostgres()
  for (const bench of cases) {
    if (bench.postgres && 'missing' in installation) say(`${bench.name}: left out, PostgreSQL: ${installation.missing}`)
    else results.push(printResult(await measureOwnServerCase(bench, options)))
  }
  return results
}

function printResult(result: OwnServerResult): OwnServerResult {
  say(`${result.name}: ${result.problem ?? result.lines.join('; ')}`)
  return result
}

function write(file: string | undefined, content: string): void {
  if (file === undefined) return
  mkdirSync(dirname(resolve(file)), { recursive: true })
  writeFileSync(file, content)
}

const readReport = (file: string): Report => {
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  if (report.version !== 1) throw new UsageError(`${file} is not a report of this version of the benchmarks`)
  return report
}

// `exit` handlers run on these signals too: they end the children and remove the copy of the world.
process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))

try {
  const options = readOptions(
    process.argv.slice(2),
    [...HTTP_CASES, ...ENGINE_CASES, ...OWN_SERVER_CASES, ...COMMAND_CASES].map(({ name }) => name),
  )
  if (options === 'help') console.log(USAGE)
  else if (options.compare) console.log(comparisonOf(readReport(options.compare[0]), readReport(options.compare[1])))
  else {
    const report = await run(options)
    console.log(tableOf(report))
    write(options.json, `${JSON.stringify(report, undefined, 2)}\n`)
    write(options.html, htmlOf(report))
    write(options.svg, svgOf(report))
    if (options.assert && verdictsOf(report).some(({ met }) => !met)) process.exitCode = 1
  }
} catch (error) {
  console.error(error instanceof UsageError ? `${error.message}\n\n${USAGE}` : error)
  process.exitCode = 1
}
process.exit()
