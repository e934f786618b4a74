import { useRef } from 'preact/hooks'
import { attributeAt, type DataClass } from '../base/catalog.ts'
import { conditionOn, narrowed, within } from '../base/condition.ts'
import { csvLine } from '../base/csv.ts'
import { download, pngOf } from '../base/download.ts'
import { format, formatDuration } from '../base/format.ts'
import { type Attribute, isRelation } from '../base/model.ts'
import { change, linkWith, place } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { language, number } from '../base/texts.ts'
import { complain } from '../base/work.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { Waiting } from '../components/waiting.tsx'
import { lazy } from '../shell/lazy.tsx'
import { Bars } from './bars.tsx'
import { type Range, STEPS, type Step } from './bins.ts'
import {
  type Distribution,
  FUNCTIONS,
  type Group,
  isNumber,
  kindOf,
  loadDistribution,
  type Measure,
} from './figures.ts'
import { PathPicker } from './path-picker.tsx'
import { text } from './texts.ts'
import './look.css'

const MapView = lazy(async () => (await import('./map.tsx')).MapView)
const Series = lazy(async () => {
  ensureLanguage()
  return (await import('./series.tsx')).Series
})
const MAX_LISTED = 200

/** Replaces an invalid browser language such as `en-US@posix`, with which uPlot would fail when it is loaded. */
function ensureLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: language.value })
  }
}

/** Value of `chart` in the address that means the map instead of an attribute. */
const MAP = '$map'

/** A picture of the selection: the distribution of an attribute, or a map, `chart=$map`. */
export function Chart() {
  const isMap = place.value.query.chart === MAP
  const hasMap = selection.value!.dataClass.attributes.filter(isNumber).length >= 2
  const kinds = [
    { title: text('distribution'), chart: undefined, isCurrent: !isMap },
    { title: text('map'), chart: MAP, isCurrent: isMap },
  ]
  return (
    <section class="look" aria-label={text('chart')}>
      {hasMap && (
        <nav class="kinds" aria-label={text('kinds')}>
          {kinds.map(({ title, chart, isCurrent }) => (
            <a key={title} href={linkWith({ chart })} aria-current={isCurrent ? 'true' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      )}
      {isMap && hasMap ? <MapView /> : <DistributionView />}
    </section>
  )
}

/** Distribution of an attribute. Its settings are in the address: `chart`, `step`, `show` and `of`. */
function DistributionView() {
  const shown = selection.value!
  const { dataClass, filter, set, similar } = shown
  const { query } = place.value
  const path = query.chart ?? firstPath(dataClass)
  const attribute = attributeAt(dataClass, path)
  const step = STEPS.find(each => each === query.step)
  const measure = measureOf(query, dataClass)
  const answer = useAnswer<Distribution | undefined>(
    async (signal, report) => attribute && loadDistribution(shown, { path, attribute, step, measure }, signal, report),
    [attribute, path, step, measure?.function, measure?.path, dataClass, filter, set, similar],
  )
  const { result, error } = answer
  const figure = useRef<HTMLElement>(null)
  if (!attribute) return <p class="hint">{text('unknown', { path })}</p>
  const name = [dataClass.name, path].join('-')
  return (
    <>
      <div class="controls">
        <div class="field">
          <span aria-hidden="true">{text('attribute')}</span>
          <PathPicker
            label={text('attribute')}
            dataClass={dataClass}
            path={path}
            isOffered={each => !isRelation(each)}
            onPick={chart => change({ chart, step: undefined })}
          />
        </div>
        <label>
          {text('function')}
          <select
            value={measure?.function ?? 'count'}
            onChange={({ currentTarget: { value } }) =>
              change(
                value === 'count'
                  ? { show: undefined, of: undefined }
                  : { show: value, of: measure?.path ?? firstPath(dataClass, isNumber) },
              )
            }
          >
            <option value="count">{text('count')}</option>
            {dataClass.attributes.some(isNumber) &&
              FUNCTIONS.map(each => (
                <option key={each} value={each}>
                  {text(each)}
                </option>
              ))}
          </select>
        </label>
        {measure && (
          <div class="field">
            <span aria-hidden="true">{text('measure')}</span>
            <PathPicker
              label={text('measure')}
              dataClass={dataClass}
              path={measure.path}
              isOffered={isNumber}
              onPick={of => change({ of })}
            />
          </div>
        )}
        {kindOf(attribute) === 'date' && (
          <label>
            {text('step')}
            <select
              value={result?.step ?? step ?? ''}
              onChange={({ currentTarget: { value } }) => change({ step: value })}
            >
              {STEPS.filter(each => each !== 'hour' || !attribute.simpleDate).map(each => (
                <option key={each} value={each}>
                  {text(each)}
                </option>
              ))}
            </select>
          </label>
        )}
        <span class="gap" />
        <button
          type="button"
          disabled={!result?.groups.length}
          onClick={() => void pngOf(figure.current!).then(png => download(png, `${name}.png`), complain)}
        >
          {text('png')}
        </button>
        <button
          type="button"
          disabled={!result?.groups.length}
          onClick={() => download(new Blob([csvOf(result!, measure)], { type: 'text/csv' }), `${name}.csv`)}
        >
          {text('csv')}
        </button>
      </div>
      <Waiting label={text('loading')} {...answer} />
      {error !== undefined && <Fault error={error} again={answer.again} />}
      {result && (
        <>
          <SummaryLine attribute={attribute} path={path} distribution={result} filter={filter} />
          <figure ref={figure}>
            <Picture attribute={attribute} path={path} distribution={result} filter={filter} measure={measure} />
          </figure>
        </>
      )}
    </>
  )
}

function measureOf({ show, of }: Readonly<Record<string, string>>, dataClass: DataClass): Measure | undefined {
  const name = FUNCTIONS.find(each => each === show)
  const attribute = of === undefined ? undefined : attributeAt(dataClass, of)
  return name && attribute && isNumber(attribute) ? { function: name, path: of! } : undefined
}

/** The most informative attribute for a first look: neither keys nor long texts. */
function firstPath(dataClass: DataClass, isOffered: (attribute: Attribute) => boolean = () => true): string {
  const foreignKeys = new Set(dataClass.attributes.map(({ foreignKey }) => foreignKey))
  const candidates = dataClass.attributes.filter(
    each =>
      isOffered(each) && !each.identifying && !foreignKeys.has(each.name) && each.type !== 'uuid' && !isRelation(each),
  )
  const best = (['date', 'number', 'duration', 'bool', 'text'] as const)
    .map(kind => candidates.find(each => kindOf(each) === kind))
    .find(each => each !== undefined)
  return (best ?? dataClass.attributes[0]!).name
}

interface PartProps {
  readonly attribute: Attribute
  readonly path: string
  readonly distribution: Distribution
  readonly filter: string
}

function SummaryLine({ attribute, path, filter, distribution: { summary } }: PartProps) {
  const { total, present, distinct, min, max, average, sum } = summary
  const missing = total - present
  const plain = (value: number | null | undefined): string =>
    value === null || value === undefined
      ? ''
      : kindOf(attribute) === 'duration'
        ? formatDuration(Math.round(value))
        : number(value, { maximumFractionDigits: 4 })
  const entries: [string, string, string?][] = [
    [text('total'), number(total)],
    [text('present'), number(present)],
    [
      text('missing'),
      `${number(missing)}${total > 0 && missing > 0 ? ` (${number(missing / total, { style: 'percent', maximumFractionDigits: 1 })})` : ''}`,
      missing > 0 ? linkWith({ filter: narrowed(filter, conditionOn(path, attribute, null)!) }) : undefined,
    ],
  ]
  if (distinct !== undefined) entries.push([text('distinct'), number(distinct)])
  if (min !== undefined) entries.push([text('min'), format(min, attribute)], [text('max'), format(max, attribute)])
  if (average !== undefined) entries.push([text('average'), plain(average)], [text('sum'), plain(sum)])
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

function Picture({ attribute, path, filter, measure, distribution }: PictureProps) {
  const { groups, summary, step } = distribution
  if (groups.length === 0) return <p class="hint">{text('none')}</p>
  const kind = kindOf(attribute)
  const label = measure
    ? text('measured', { function: text(measure.function), measured: measure.path, path })
    : text('counted', { path })
  const shownOf = (group: Group): number | null => (measure ? (group.measured ?? null) : group.count)
  const linkOf = (group: Group): string | undefined =>
    group.count > 0 && group.condition !== undefined
      ? linkWith({ filter: narrowed(filter, group.condition) })
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
            change({ filter: narrowed(filter, within(path, day(from), day(to))) })
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
  const others = summary.present - groups.reduce((sum, { count }) => sum + count, 0)
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
      {others > 0 && (
        <tfoot>
          <tr>
            <td colSpan={4}>{text('others', { count: others })}</td>
          </tr>
        </tfoot>
      )}
    </table>
  )
}

function groupName({ value, range }: Group, attribute: Attribute, step: Step | undefined): string {
  if (!range) return typeof value === 'string' && value !== '' ? value : JSON.stringify(value)
  if (step) return rangeName(range, step)
  const plain = (limit: number): string =>
    kindOf(attribute) === 'duration' ? formatDuration(limit) : number(limit, { maximumFractionDigits: 12 })
  return text('bin', { from: plain(range.from), to: plain(range.to) })
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

/** The groups as a CSV table, with limits of dates as ISO texts. */
function csvOf({ groups, step }: Distribution, measure: Measure | undefined): string {
  const shown = (value: number): unknown => (step ? new Date(value).toISOString() : value)
  const head = [...(groups[0]?.range ? ['from', 'to'] : ['value']), 'count', ...(measure ? [measure.function] : [])]
  const rows = groups.map(({ value, range, count, measured }) => [
    ...(range ? [shown(range.from), shown(range.to)] : [value]),
    count,
    ...(measure ? [measured] : []),
  ])
  return [head, ...rows].map(csvLine).join('')
}
