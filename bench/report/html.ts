import { TARGETS } from '../http/http-case.ts'
import { milliseconds, rate } from './numbers.ts'
import type { HttpResult, Report } from './report.ts'
import { heading, tableOf } from './table.ts'

const STYLE = `
  body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733 }
  h2 { font-size: 1rem; margin: 1.5rem 0 0 } svg { display: block } text { font: 12px system-ui, sans-serif; fill: #1d2733 }
  .ours { fill: #1769c2 } .baseline { fill: #c98a1b } .postgres { fill: #5b8a72 } .remote { fill: #7d5ba6 } .bound { fill: #9aa5b1 }
  pre { font-size: 12px; overflow-x: auto; background: #f4f6f8; padding: 1rem } .problem { color: #b3261e }
`
const WIDTH = 760
const BAR = 18

/** The report as a self-contained page. */
export function htmlOf(report: Report): string {
  const [machine, world] = heading(report)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tesser bench, ${escapeHtml(report.machine.commit)}</title>
<style>${STYLE}</style></head><body>
<h1>Tesser bench</h1>
<p>${escapeHtml(machine!)}<br>${escapeHtml(world!)}</p>
<p>Requests per second (rows, where a request writes many). <b>ours</b>: Tesser. <b>baseline</b>: Fastify and SQLite with
hand-written routes. <b>postgres</b>: Fastify and PostgreSQL, likewise. <b>remote</b>: Tesser over the same tables. <b>bound</b>: uWebSockets.js alone, sending the same bytes.</p>
${report.http.map(chartOf).join('\n')}
<h2>All figures</h2>
<pre>${escapeHtml(tableOf(report))}</pre>
</body></html>
`
}

function chartOf(result: HttpResult): string {
  const bars = TARGETS.flatMap(target => {
    const figures = result.targets[target]
    return figures ? [{ target, figures }] : []
  })
  const most = Math.max(...bars.map(({ figures }) => figures.perSecond))
  const lines = bars.map(({ target, figures }, i) => {
    const width = Math.max(1, (figures.perSecond / most) * (WIDTH - 360))
    const y = i * (BAR + 4)
    const latency = `p50 ${milliseconds(figures.p50Ms)} ms, p99 ${milliseconds(figures.p99Ms)} ms`
    return (
      `<text x="0" y="${y + 13}">${target}</text>` +
      `<rect class="${target}" x="70" y="${y}" width="${width.toFixed(1)}" height="${BAR}"/>` +
      `<text x="${(76 + width).toFixed(1)}" y="${y + 13}">${rate(figures.perSecond)} · ${latency}</text>`
    )
  })
  const problem = result.problem ? `<p class="problem">${escapeHtml(result.problem)}</p>` : ''
  const chart = `<svg width="${WIDTH}" height="${lines.length * (BAR + 4)}" role="img">${lines.join('')}</svg>`
  return `<h2>${escapeHtml(result.title)}</h2>${problem}${lines.length > 0 ? chart : ''}`
}

/** Escapes a text for HTML or SVG, including attribute values in double quotes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
