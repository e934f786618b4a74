import { TARGETS } from '../http/http-case.ts'
import { megabytes, milliseconds, rate, ratio } from './numbers.ts'
import type { HttpResult, Report, TargetFigures } from './report.ts'
import { sumOf, type Verdict, verdictsOf, verdictsOfCase } from './verdict.ts'

/** The report as text. */
export function tableOf(report: Report): string {
  return [
    ...heading(report),
    '',
    ...(report.http.length > 0 ? [...httpTable(report.http), ''] : []),
    ...(report.engine.length > 0 ? [...engineTable(report), ''] : []),
    ...ownServerLines(report),
    ...memoryLines(report),
    ...summary(verdictsOf(report)),
  ].join('\n')
}

export function heading({ machine, world, settings, date }: Report): string[] {
  const { cpu, cores, memoryBytes, node, transport, commit } = machine
  return [
    `${cpu}, ${cores} cores, ${megabytes(memoryBytes)} · Node ${node} · ${transport} · commit ${commit} · ${date}`,
    `${count(world.employees)} employees in ${count(world.companies)} companies, seed ${world.seed} · ` +
      `${settings.connections} connections · median of ${settings.rounds} rounds of ${settings.seconds} s`,
  ]
}

function httpTable(results: readonly HttpResult[]): string[] {
  const rows = results.flatMap(result => {
    const verdicts = verdictsOfCase(result, results)
    const lines = TARGETS.flatMap(target => {
      const figures = result.targets[target]
      return figures ? [targetRow(target, figures, result)] : []
    })
    return [[`${result.name}: ${result.title}`], ...lines, ...verdicts.map(verdict => ['', verdictText(verdict)])]
  })
  return align([['', 'per second', 'p50 ms', 'p99 ms', 'memory', '× baseline', '× postgres', '× bound'], ...rows])
}

function targetRow(target: string, figures: TargetFigures, { targets }: HttpResult): string[] {
  const against = (other: TargetFigures | undefined) => (other ? ratio(figures.perSecond / other.perSecond) : '')
  const { beside } = figures
  return [
    `  ${target}`,
    rate(figures.perSecond),
    milliseconds(figures.p50Ms),
    milliseconds(figures.p99Ms),
    megabytes(figures.memory.resident),
    target === 'ours' ? against(targets.baseline) : '',
    target === 'ours' || target === 'remote' ? against(targets.postgres) : '',
    target === 'ours' ? against(targets.bound) : '',
    ...(beside ? [`reads beside: ${rate(beside.perSecond)}/s, p99 ${milliseconds(beside.p99Ms)} ms`] : []),
  ]
}

function engineTable({ engine }: Report): string[] {
  return align([
    ['engine, in process', 'per second', 'p50 ms', 'p99 ms', 'CPU ms', 'units/s'],
    ...engine.map(({ name, title, problem, recall, remark, against, perSecond, p50Ms, p99Ms, cpuMs, units, unit }) =>
      problem
        ? [`${name}: ${title}`, `FAILED ${problem}`]
        : [
            [
              `${name}: ${title}`,
              ...(recall === undefined ? [] : [`recall ${recall.toFixed(4)}`]),
              ...(against ? [`${against.what} ${milliseconds(against.p50Ms)} ms`] : []),
              ...(remark ? [remark] : []),
            ].join(', '),
            rate(perSecond),
            milliseconds(p50Ms),
            milliseconds(p99Ms),
            cpuMs === undefined ? '' : milliseconds(cpuMs),
            units === 1 ? '' : `${rate(perSecond * units)} ${unit}`,
          ],
    ),
  ])
}

function ownServerLines({ ownServer = [] }: Report): string[] {
  return ownServer.flatMap(({ name, title, problem, lines, verdicts }) => [
    `${name}: ${title}`,
    ...(problem ? [`  FAILED ${problem}`] : lines.map(line => `  ${line}`)),
    ...verdicts.map(verdict => `    ${verdictText(verdict)}`),
    '',
  ])
}

function memoryLines({ memoryAfterReads: memory, readyMs, world }: Report): string[] {
  if (!memory) return []
  const { rawBytes, employees, attributes } = world
  const ofValues = (bytes: number): string =>
    `${(bytes / (employees * attributes)).toFixed(1)} bytes per row and attribute, ` +
    `${ratio(bytes / rawBytes)} the raw data (${megabytes(rawBytes)})`
  const mappedBytes = memory.mapped ?? 0
  const lines = [
    `memory of our server after the reads: ${megabytes(memory.resident)}, of it mapped files ${megabytes(mappedBytes)}; ` +
      `without them ${ofValues(memory.resident - mappedBytes)}`,
  ]
  if (memory.shared) {
    const parts = Object.entries(memory.shared).map(([part, bytes]) => `${part} ${megabytes(bytes)}`)
    lines.push(`shared by its threads: ${parts.join(', ')}; ${ofValues(sumOf(memory.shared))}`)
  }
  if (readyMs !== undefined) lines.push(`it had everything in memory ${Math.round(readyMs)} ms after its start`)
  return [...lines, '']
}

function summary(verdicts: readonly Verdict[]): string[] {
  const missedGoals = verdicts.filter(({ met }) => !met)
  if (verdicts.length === 0) return []
  if (missedGoals.length === 0) return [`all ${verdicts.length} goals are met`]
  return [
    `${missedGoals.length} of ${verdicts.length} goals are not met:`,
    ...missedGoals.map(verdict => `  ${verdict.case}: ${verdictText(verdict)}`),
  ]
}

const verdictText = ({ goal, found, met }: Verdict): string =>
  `${met ? 'met' : 'NOT MET'}: goal ${goal}, found ${found}`

const count = (value: number): string => value.toLocaleString('en')

/** Aligns columns, numbers to the right. Rows of one or two cells are headings and remarks, which may be wide. */
export function align(rows: readonly string[][]): string[] {
  const widths: number[] = []
  for (const row of rows) {
    if (row.length < 3) continue
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  }
  return rows.map(row => {
    if (row.length < 3) return row.map(cell => cell || '   ').join(' ')
    return row
      .map((cell, i) => (i === 0 || i === 8 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join('  ')
      .trimEnd()
  })
}
