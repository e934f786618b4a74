import { useRef } from 'preact/hooks'
import { attributeAt, type DataClass } from '../base/catalog.ts'
import { csvLine } from '../base/csv.ts'
import { download, pngOf } from '../base/download.ts'
import { type Attribute, isRelation } from '../base/model.ts'
import { change, linkWith, place } from '../base/place.ts'
import { selection } from '../base/selection.ts'
import { complain } from '../base/work.ts'
import { Fault } from '../components/fault.tsx'
import { useAnswer } from '../components/use-answer.ts'
import { Waiting } from '../components/waiting.tsx'
import { lazy } from '../shell/lazy.tsx'
import { STEPS } from './bins.ts'
import { type Distribution, FUNCTIONS, isNumber, kindOf, loadDistribution, type Measure } from './figures.ts'
import { PathPicker } from './path-picker.tsx'
import { text } from './texts.ts'
import { Picture, SummaryLine } from './picture.tsx'
import './look.css'

const MapView = lazy(async () => (await import('./map.tsx')).MapView)

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
  const currentSelection = selection.value!
  const { dataClass, filter, set, similar } = currentSelection
  const { query } = place.value
  const path = query.chart ?? firstPath(dataClass)
  const attribute = attributeAt(dataClass, path)
  const step = STEPS.find(each => each === query.step)
  const measure = measureOf(query, dataClass)
  const answer = useAnswer<Distribution | undefined>(
    async (signal, report) =>
      attribute && loadDistribution(currentSelection, { path, attribute, step, measure }, signal, report),
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

/** The groups as a CSV table, with limits of dates as ISO texts. */
function csvOf({ groups, step }: Distribution, measure: Measure | undefined): string {
  const formatLimit = (value: number): unknown => (step ? new Date(value).toISOString() : value)
  const head = [...(groups[0]?.range ? ['from', 'to'] : ['value']), 'count', ...(measure ? [measure.function] : [])]
  const rows = groups.map(({ value, range, count, measured }) => [
    ...(range ? [formatLimit(range.from), formatLimit(range.to)] : [value]),
    count,
    ...(measure ? [measured] : []),
  ])
  return [head, ...rows].map(csvLine).join('')
}
