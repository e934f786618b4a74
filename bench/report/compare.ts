import { rate, ratio } from './numbers.ts'
import type { Report } from './report.ts'
import { align, heading } from './table.ts'

/** Two reports side by side: for each case, the ratio of the second to the first. */
export function comparisonOf(before: Report, after: Report): string {
  const old = ratesOf(before)
  const rows = [...ratesOf(after)].flatMap(([name, now]) => {
    const was = old.get(name)
    return was === undefined ? [] : [[name, rate(was), rate(now), ratio(now / was)]]
  })
  return [
    'A:',
    ...heading(before),
    'B:',
    ...heading(after),
    '',
    ...align([['ours, per second', 'A', 'B', 'B / A'], ...rows]),
  ].join('\n')
}

/** Rates by the name of the case, only of cases with right answers. */
function ratesOf({ http, engine }: Report): Map<string, number> {
  return new Map([
    ...http.flatMap(({ name, problem, targets }) =>
      problem || !targets.ours ? [] : [[name, targets.ours.perSecond] as const],
    ),
    ...engine.flatMap(({ name, problem, perSecond }) => (problem ? [] : [[`engine ${name}`, perSecond] as const])),
  ])
}
