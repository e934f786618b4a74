import t from 'tap'
import type { Goals } from '../../../bench/http/http-case.ts'
import { comparisonOf } from '../../../bench/report/compare.ts'
import { htmlOf } from '../../../bench/report/html.ts'
import { type HttpResult, median, type Report } from '../../../bench/report/report.ts'
import { svgOf } from '../../../bench/report/svg.ts'
import { tableOf } from '../../../bench/report/table.ts'
import { verdictsOf } from '../../../bench/report/verdict.ts'

const figures = (perSecond: number, p99Ms = 1) => ({
  requests: 1_000,
  perSecond,
  p50Ms: p99Ms / 2,
  p99Ms,
  rounds: [perSecond],
  memory: { resident: 2e8, mapped: 1e8 },
})

const result = (name: string, goals: Goals, ours: number, problem?: string): HttpResult => ({
  name,
  title: `the <${name}>`,
  goals,
  rowsPerRequest: 1,
  problem,
  targets: problem ? {} : { ours: figures(ours, 3), baseline: figures(100), bound: figures(1_000) },
})

const report = (...http: HttpResult[]): Report => ({
  version: 1,
  date: '2026-01-31T10:00:00.000Z',
  machine: { cpu: 'a processor', cores: 2, memoryBytes: 8e9, node: '20.0.0', transport: 'uws', commit: 'abc1234' },
  world: { seed: 1, employees: 1_000_000, companies: 10_000, attributes: 11, rawBytes: 5e7 },
  settings: { seconds: 1, rounds: 3, connections: 32 },
  http,
  engine: [],
  memoryAfterReads: undefined,
})

const shown = (of: Report) =>
  verdictsOf(of).map(({ goal, found, met }) => `${met ? 'met' : 'missed'}: ${goal}, ${found}`)

t.test('a ratio is met from the goal on', async t => {
  t.same(shown(report(result('a', { baseline: 4, bound: 0.5 }, 400))), [
    'met: ≥ 4× baseline, 4×',
    'missed: ≥ 0.5× bound, 0.4×',
  ])
})

t.test('the better of baseline and PostgreSQL counts where both were measured', async t => {
  const bench = result('a', { better: 2 }, 400)
  const beside = (postgres: number) => report({ ...bench, targets: { ...bench.targets, postgres: figures(postgres) } })
  t.same(shown(beside(250)), ['missed: ≥ 2× the better of baseline and postgres, 1.6×'])
  t.same(shown(beside(50)), ['met: ≥ 2× the better of baseline and postgres, 4×'])
  t.same(shown(report(bench)), [])
  t.match(tableOf(beside(250)), /^ {2}ours +400 .* 4× +1\.6× +0\.4×$/m)
  t.match(tableOf(beside(250)), /^ {2}postgres +250 /m)
  t.match(htmlOf(beside(250)), '<rect class="postgres"')
})

t.test('a latency must be below the goal', async t => {
  t.same(shown(report(result('a', { p99Ms: 3 }, 1))), ['missed: p99 < 3 ms, 3.00 ms'])
})

t.test('a cost is compared with the other case, or left out when that was not run', async t => {
  const deep = result('deep', { cost: { of: 'first', factor: 3 } }, 30)
  t.same(shown(report(result('first', {}, 120), deep)), ['missed: ≤ 3× the time of first (120), 4×'])
  t.same(shown(report(deep)), [])
})

t.test('the goal of a case with a problem is the right answers', async t => {
  t.same(shown(report(result('a', { baseline: 4 }, 0, 'wrong answer'))), ['missed: the right answers, wrong answer'])
})

t.test('goals are shared memory of at most three times the raw data, and a start within two seconds', async t => {
  const withMemory = (rows: number, readyMs?: number) => ({
    ...report(),
    memoryAfterReads: { resident: 1e9, mapped: 1e8, shared: { columns: 5e7, rows } },
    readyMs,
  })
  t.same(shown(withMemory(1e8)), ['met: ≤ 3× the raw data, 3×'])
  t.same(shown(withMemory(1.5e8, 2_001)), [
    'missed: ≤ 3× the raw data, 4×',
    'missed: everything in memory within 2000 ms, 2001 ms',
  ])
  t.match(tableOf(withMemory(1e8, 900)), /shared by its threads: columns 50 MB, rows 100 MB; .*3× the raw data/)
  t.match(tableOf(withMemory(1e8, 900)), 'everything in memory 900 ms after its start')
})

t.test('the table names the machine, the figures and what is missed', async t => {
  const table = tableOf(report(result('a', { baseline: 5 }, 400)))
  for (const part of ['a processor, 2 cores', 'commit abc1234', 'NOT MET: goal ≥ 5× baseline, found 4×', '200 MB']) {
    t.match(table, part)
  }
})

t.test('the page loads no other resources and escapes names', async t => {
  const page = htmlOf(report(result('a', {}, 400)))
  t.notMatch(page, /(src|href)=/)
  t.match(page, '<svg')
  t.match(page, 'the &lt;a&gt;')
})

t.test('the picture has a bar that starts at 1× for each case that both targets answered', async t => {
  const picture = svgOf(report(result('a', {}, 1_000), result('b', {}, 50), result('c', {}, 400, 'a wrong answer')))
  const bars = [...picture.matchAll(/<rect x="([\d.]+)" y="\d+" width="([\d.]+)"/g)].map(([, x, width]) => [
    Number(x),
    Number(x) + Number(width),
  ])
  t.equal(bars.length, 2)
  t.equal(bars[0]![0], bars[1]![1], 'faster ones extend to the right of 1×, slower ones to the left')
  t.match(picture, /10× <tspan class="small">1,000\/s<.*0\.5× <tspan class="small">50\/s</s)
  t.match(picture, 'the &lt;a&gt;')
  t.notMatch(picture, 'the &lt;c&gt;')
  t.notMatch(picture, /(src|href)=/)
})

t.test('a comparison gives the ratio of the cases that both reports have', async t => {
  const text = comparisonOf(report(result('a', {}, 100), result('b', {}, 5)), report(result('a', {}, 150)))
  t.match(text, /^a +100 +150 +1\.5×$/m)
  t.notMatch(text, /^b /m)
})

t.test('the median of an even number of values is between the middle ones', async t => {
  t.equal(median([4, 1, 3, 2]), 2.5)
  t.equal(median([3, 1, 2]), 2)
})
