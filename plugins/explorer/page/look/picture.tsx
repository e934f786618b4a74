import { conditionOn, addCondition, within } from '../base/condition.ts'
import { format, formatDuration } from '../base/format.ts'
import type { Attribute } from '../base/model.ts'
import { change, linkWith } from '../base/place.ts'
import { language, number } from '../base/texts.ts'
import { lazy } from '../shell/lazy.tsx'
import { Bars } from './bars.tsx'
import type { Range, Step } from './bins.ts'
import { type Distribution, type Group, kindOf, type Measure } from './figures.ts'
import { text } from './texts.ts'

const MAX_LISTED = 200
const Series = lazy(async () => {
  ensureLanguage()
  return (await import('./series.tsx')).Series
})

/** Replaces an invalid browser language such as `en-US@posix`, with which uPlot would fail when it is loaded. */
function ensureLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: language.value })
  }
}

interface PartProps {
  readonly attribute: Attribute
  readonly path: string
  readonly distribution: Distribution
  readonly filter: string
}

/** Numbers about the attribute in the selection. */
export function SummaryLine({ attribute, path, filter, distribution: { summary } }: PartProps) {
  const { total, present, distinct, min, max, average, sum } = summary
  const missingCount = total - present
  const formatFigure = (value: number | null | undefined): string =>
    value == null
      ? ''
      : kindOf(attribute) === 'duration'
        ? formatDuration(Math.round(value))
        : number(value, { maximumFractionDigits: 4 })
  const entries: [string, string, string?][] = [
    [text('total'), number(total)],
    [text('present'), number(present)],
    [
      text('missing'),
      `${number(missingCount)}${total > 0 && missingCount > 0 ? ` (${number(missingCount / total, { style: 'percent', maximumFractionDigits: 1 })})` : ''}`,
      missingCount > 0 ? linkWith({ filter: addCondition(filter, conditionOn(path, attribute, null)!) }) : undefined,
    ],
  ]
  if (distinct !== undefined) entries.push([text('distinct'), number(distinct)])
  if (min !== undefined) entries.push([text('min'), format(min, attribute)], [text('max'), format(max, attribute)])
  if (average !== undefined) entries.push([text('average'), formatFigure(average)], [text('sum'), formatFigure(sum)])
  return (
    <dl class="summary">
      {entries.map(([name, value, link]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{link ? <a href={link}>{value}</a> : value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface PictureProps extends PartProps {
  readonly measure: Measure | undefined
}

/** The groups of a distribution: bars, a series over time, or the most frequent values. */
export function Picture({ attribute, path, filter, measure, distribution }: PictureProps) {
  const { groups, summary, step } = distribution
  if (groups.length === 0) return <p class="hint">{text('none')}</p>
  const kind = kindOf(attribute)
  const label = measure
    ? text('measured', { function: text(measure.function), measured: measure.path, path })
    : text('counted', { path })
  const shownOf = (group: Group): number | null => (measure ? (group.measured ?? null) : group.count)
  const linkOf = (group: Group): string | undefined =>
    group.count > 0 && group.condition !== undefined
      ? linkWith({ filter: addCondition(filter, group.condition) })
      : undefined
  const nameOf = (group: Group): string => groupName(group, attribute, step)
  const sentence = (group: Group): string => `${nameOf(group)}: ${number(shownOf(group) ?? 0, DIGITS)}`
  if (kind === 'text' || kind === 'bool') {
    return <TopValues {...{ groups, summary, measure, label, linkOf, nameOf, shownOf }} />
  }
  return (
    <>
      <figcaption>{label}</figcaption>
      {step ? (
        <Series
          label={label}
          timeLabel={path}
          points={groups.map(group => ({ ...group.range!, value: shownOf(group) }))}
          formatTime={range => rangeName(range, step)}
          onChoose={(first, last) => {
            const [from, to] = [groups[first]!.range!.from, groups[last]!.range!.to]
            const day = (time: number): string => {
              const iso = new Date(time).toISOString()
              return attribute.simpleDate ? iso.slice(0, 10) : iso
            }
            change({ filter: addCondition(filter, within(path, day(from), day(to))) })
          }}
        />
      ) : (
        <Bars
          label={label}
          bars={groups.map(group => ({
            ...group.range!,
            value: shownOf(group) ?? 0,
            label: sentence(group),
            link: linkOf(group),
          }))}
          formatAxis={value => (kind === 'duration' ? formatDuration(value) : number(value, { notation: 'compact' }))}
        />
      )}
      <details>
        <summary>{text('figures')}</summary>
        <table class="figures">
          <thead>
            <tr>
              <th scope="col">{path}</th>
              <th scope="col">{text('total')}</th>
              {measure && <th scope="col">{label}</th>}
            </tr>
          </thead>
          <tbody>
            {groups.slice(0, MAX_LISTED).map(group => (
              <tr key={String(group.value)}>
                <th scope="row">{linkOf(group) ? <a href={linkOf(group)}>{nameOf(group)}</a> : nameOf(group)}</th>
                <td>{number(group.count)}</td>
                {measure && <td>{group.measured == null ? '' : number(group.measured, DIGITS)}</td>}
              </tr>
            ))}
          </tbody>
        </table>
        {groups.length > MAX_LISTED && <p class="hint">{text('only', { count: MAX_LISTED })}</p>}
      </details>
    </>
  )
}

const DIGITS = { maximumFractionDigits: 4 }

interface TopValuesProps {
  readonly groups: readonly Group[]
  readonly summary: Distribution['summary']
  readonly measure: Measure | undefined
  readonly label: string
  readonly linkOf: (group: Group) => string | undefined
  readonly nameOf: (group: Group) => string
  readonly shownOf: (group: Group) => number | null
}

/** The most frequent values, each with a bar. */
function TopValues({ groups, summary, measure, label, linkOf, nameOf, shownOf }: TopValuesProps) {
  const most = Math.max(...groups.map(group => Math.abs(shownOf(group) ?? 0)), 1e-9)
  const otherCount = summary.present - groups.reduce((sum, { count }) => sum + count, 0)
  return (
    <table class="frequent">
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">{text('value')}</th>
          <th scope="col">{text('total')}</th>
          <th scope="col">{measure ? text(measure.function) : text('share')}</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {groups.map(group => (
          <tr key={String(group.value)}>
            <th scope="row">{linkOf(group) ? <a href={linkOf(group)}>{nameOf(group)}</a> : nameOf(group)}</th>
            <td>{number(group.count)}</td>
            <td>
              {measure
                ? group.measured == null
                  ? ''
                  : number(group.measured, DIGITS)
                : number(group.count / summary.total, { style: 'percent', maximumFractionDigits: 1 })}
            </td>
            <td class="share">
              <span style={{ width: `${(100 * Math.abs(shownOf(group) ?? 0)) / most}%` }} />
            </td>
          </tr>
        ))}
      </tbody>
      {otherCount > 0 && (
        <tfoot>
          <tr>
            <td colSpan={4}>{text('others', { count: otherCount })}</td>
          </tr>
        </tfoot>
      )}
    </table>
  )
}

function groupName({ value, range }: Group, attribute: Attribute, step: Step | undefined): string {
  if (!range) return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
  if (step) return rangeName(range, step)
  const formatLimit = (limit: number): string =>
    kindOf(attribute) === 'duration' ? formatDuration(limit) : number(limit, { maximumFractionDigits: 12 })
  return text('bin', { from: formatLimit(range.from), to: formatLimit(range.to) })
}

const STEP_FORMATS: Readonly<Record<Step, Intl.DateTimeFormatOptions>> = {
  hour: { dateStyle: 'medium', timeStyle: 'short' },
  day: { dateStyle: 'medium' },
  month: { year: 'numeric', month: 'long' },
  year: { year: 'numeric' },
  decade: { year: 'numeric' },
}

const rangeName = ({ from }: Range, step: Step): string =>
  `${new Date(from).toLocaleString(language.value, { ...STEP_FORMATS[step], timeZone: 'UTC' })}${step === 'decade' ? '–' : ''}`
