import { Fragment } from 'preact'
import { type Attribute, type DataClass, isRelation, shapeOf } from '../base/catalog.ts'
import { format } from '../base/format.ts'
import { labelOf } from '../base/label.ts'
import { linkTo } from '../base/place.ts'
import { linkToRelated } from '../base/related.ts'
import { number } from '../base/texts.ts'
import { Sparkline } from '../components/sparkline.tsx'
import { type Column, valuesAt } from './columns.ts'
import type { Entity } from './rows.ts'
import { text } from './texts.ts'

const THUMBNAIL = { width: 96, height: 44 }
/** Maximum number of vector elements that are drawn. */
const DRAWN = 32

interface CellProps {
  readonly column: Column
  readonly entity: Entity
}

/** The value of an entity in a column, on one line. */
export function Cell({ column, entity }: CellProps) {
  const values = valuesAt(entity, column.path).filter(value => value !== null && value !== undefined)
  if (values.length === 0) return null
  const isLong =
    ['object', 'vector'].includes(shapeOf(column.attribute)) ||
    values.some(value => isLink(value) && value.__deferred.brief)
  return (
    <>
      {isLong && (
        <button type="button" class="quiet whole" tabIndex={-1} aria-label={text('whole')} title={text('whole')}>
          ⤢
        </button>
      )}
      {values.map((value, at) => (
        <Fragment key={at}>
          {at > 0 && ', '}
          <Value value={value} column={column} entity={entity} />
        </Fragment>
      ))}
    </>
  )
}

/** The text of a cell, for copying. */
export function cellText({ path, attribute, target }: Column, entity: Entity): string {
  const texts = valuesAt(entity, path).map(value => {
    if (!isRelation(attribute)) return lineOf(value, attribute)
    return attribute.kind === 'relatedEntity'
      ? labelIn(value, target!)
      : String((value as RelatedMany | undefined)?.__COUNT ?? '')
  })
  return texts.join(', ')
}

interface RelatedMany {
  readonly __COUNT?: number
}

function Value({ value, column, entity }: CellProps & { readonly value: unknown }) {
  const { attribute, target } = column
  if (attribute.kind === 'relatedEntity') {
    const key = (value as Partial<Entity>).__KEY
    return (
      <a class="chip" tabIndex={-1} href={linkTo([target!.name], { entity: key })}>
        {labelIn(value, target!) || key}
      </a>
    )
  }
  if (attribute.kind === 'relatedEntities') return <Many value={value as RelatedMany} column={column} entity={entity} />
  switch (shapeOf(attribute)) {
    case 'bool':
      return <span class={value ? 'yes' : 'no'}>{text(value ? 'yes' : 'no')}</span>
    case 'image':
      return isLink(value) && value.__deferred.uri ? (
        <Thumbnail uri={value.__deferred.uri} name={attribute.name} />
      ) : null
    case 'blob':
      return isLink(value) && value.__deferred.uri ? (
        <a class="chip" tabIndex={-1} href={value.__deferred.uri} download={attribute.name}>
          {text('bytes')}
        </a>
      ) : null
    case 'vector':
      return (
        <Beginning elements={elementsOf(value).slice(0, DRAWN)} count={attribute.dimension!} width={column.width} />
      )
    default:
      return lineOf(value, attribute)
  }
}

const labelIn = (entity: unknown, target: DataClass): string => {
  const label = labelOf(target)
  return lineOf((entity as Entity | null | undefined)?.[label.name], label)
}

function Many({ value, column: { path, owner, attribute, target }, entity }: { value: RelatedMany } & CellProps) {
  const [key] = valuesAt(entity, [...path.split('.').slice(0, -1), '__KEY'].join('.'))
  const link = typeof key === 'string' ? linkToRelated(owner, attribute, key) : undefined
  const countText = number(value.__COUNT ?? 0)
  if (link === undefined) return countText
  return (
    <a class="chip" tabIndex={-1} href={link} aria-label={`${target!.name}: ${countText}`}>
      {countText}
    </a>
  )
}

interface BeginningProps {
  readonly elements: readonly number[]
  /** Number of elements of the whole vector. */
  readonly count: number
  readonly width: number
}

/** Sparkline of a vector, with a mark if it continues: a page of whole vectors would make the answer too large. */
function Beginning({ elements, count, width }: BeginningProps) {
  const isWhole = elements.length === count
  const label = isWhole ? number(count) : text('beginning', { shown: elements.length, count })
  return (
    <span title={label}>
      <Sparkline values={elements} label={label} width={width - (isWhole ? 20 : 36)} />
      {!isWhole && ' …'}
    </span>
  )
}

/** A value on one line; only the beginning of a long one. */
const lineOf = (value: unknown, attribute: Attribute): string =>
  isLink(value) ? shorten(value.__deferred.brief) : format(value, attribute)

const shorten = (brief: string | undefined): string => (brief === undefined ? '' : `${brief}…`)

/** Elements of a vector, or of its beginning. */
function elementsOf(value: unknown): readonly number[] {
  if (!isLink(value)) return value as number[]
  // The last element may be cut off.
  const text = value.__deferred.brief ?? '['
  return JSON.parse(`${text.slice(0, Math.max(1, text.lastIndexOf(',')))}]`)
}

interface Link {
  readonly __deferred: {
    readonly uri?: string
    /** Beginning of a long text, or of the JSON of a long object. */
    readonly brief?: string
  }
}
const isLink = (value: unknown): value is Link => typeof value === 'object' && value !== null && '__deferred' in value

const Thumbnail = ({ uri, name }: { readonly uri: string; readonly name: string }) => (
  <img
    class="thumbnail"
    src={`${uri}&$width=${THUMBNAIL.width}&$height=${THUMBNAIL.height}`}
    alt={name}
    loading="lazy"
    decoding="async"
    onError={({ currentTarget }) => {
      currentTarget.hidden = true
    }}
  />
)
