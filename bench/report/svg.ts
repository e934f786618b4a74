import { escapeHtml } from './html.ts'
import { rate, ratio } from './numbers.ts'
import type { HttpResult, Report } from './report.ts'

const WIDTH = 860
const LABEL = 400
/** Width of the scale; the labels of the longest bar are to the right of it. */
const SCALE = 300
const ROW = 26
const BAR = 14
const TOP = 46

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1d2733 } .small { font-size: 11px; fill: #5b6875 }
  rect { fill: #1769c2 } line { stroke: #c4ccd4 }
  @media (prefers-color-scheme: dark) { text { fill: #e3e8ed } .small { fill: #9aa5b1 } rect { fill: #5aa2ec } line { stroke: #44505c } }
`

/**
 * The report as one picture. For each question over HTTP, a bar shows the rate of our server as a multiple of the rate of the baseline, on
 * a logarithmic scale.
 */
export function svgOf({ http, machine, world }: Report): string {
  const rows = http.flatMap(result => rowOf(result) ?? [])
  const least = Math.min(1, ...rows.map(({ times }) => times))
  const most = Math.max(10, ...rows.map(({ times }) => times))
  const xOf = (times: number): number => LABEL + (Math.log(times / least) / Math.log(most / least)) * SCALE
  const bottom = TOP + rows.length * ROW
  const bars = rows.map(({ title, perSecond, times }, i) => {
    const [from, to] = [xOf(1), xOf(times)].sort((a, b) => a - b) as [number, number]
    const middle = TOP + i * ROW + ROW / 2
    return (
      `<text x="${LABEL - 12}" y="${middle + 4}" text-anchor="end">${escapeHtml(title)}</text>` +
      `<rect x="${from.toFixed(1)}" y="${middle - BAR / 2}" width="${Math.max(1, to - from).toFixed(1)}" height="${BAR}"/>` +
      `<text x="${(to + 8).toFixed(1)}" y="${middle + 4}">${ratio(times)} <tspan class="small">${rate(perSecond)}/s</tspan></text>`
    )
  })
  const powers = [1, 10, 100, 1_000].filter(power => power >= least && power <= most)
  const grid = powers.map(power => {
    const x = xOf(power).toFixed(1)
    return (
      `<line x1="${x}" x2="${x}" y1="${TOP - 6}" y2="${bottom}"/>` +
      `<text class="small" x="${x}" y="${TOP - 12}" text-anchor="middle">${power}×</text>`
    )
  })
  const about = `${machine.cpu}, ${machine.cores} cores, Node.js ${machine.node}, ${machine.commit}`
  const scale = `${world.employees.toLocaleString('en')} employees: answers a second, as a multiple of Fastify with SQLite`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${bottom + 28}" width="${WIDTH}" role="img" aria-label="${escapeHtml(scale)}">
<style>${STYLE}</style>
<text x="0" y="14">${escapeHtml(scale)}</text>
${[...grid, ...bars].join('\n')}
<text class="small" x="0" y="${bottom + 20}">${escapeHtml(about)}</text>
</svg>
`
}

function rowOf({ title, problem, targets: { ours, baseline } }: HttpResult) {
  if (problem !== undefined || !ours || !baseline) return undefined
  return { title, perSecond: ours.perSecond, times: ours.perSecond / baseline.perSecond }
}
