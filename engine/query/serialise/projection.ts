import type {
  AliasAttribute,
  CalculatedAttribute,
  RelationAttribute,
  StorageAttribute,
  ValueAttribute,
} from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { RowSlices } from '../../data/kernels.ts'
import { ROW_HEAD, ROW_INSERT } from '../../data/snapshot.ts'
import type { Similarity } from '../../vector/math/similarity.ts'
import type { Output, RowFormat } from '../contract/request.ts'

/**
 * Content of the answer for each entity, with every name resolved: a template for each dataclass and level, whose parts say which
 * bytes of a row are copied and which come from other rows. Immutable, so that it can be cached.
 */
export interface Projection {
  readonly form: Output['form']
  /** True for JSON that is indented for people. */
  readonly pretty: boolean
  readonly rowFormat?: RowFormat | undefined
  /** Maximum number of bytes written for one answer. */
  readonly maxBytes: number
  /** Layouts with which the projection was bound. */
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly entity: EntityTemplate
}

export interface EntityTemplate {
  readonly kind: 'entity'
  readonly dataClass: DataClass
  readonly layout: RowLayout
  /** `{"__entityModel":"name",` with which the answer for a single entity begins. */
  readonly opening: Uint8Array
  /** The slots 0 … headSlots - 1 come first, so that they are copied in one piece with the head of the row. */
  readonly headSlots: number
  readonly parts: readonly Part[]
  /** The template as ascending slices of a row and inserts, for {@link TableSnapshot.copyEntities}; undefined if not possible. */
  readonly slices: RowSlices | undefined
  /** Inserted values in the order of the slices, each with the name in front of it. */
  readonly inserts: readonly Insert[]
  /** Values that need other rows. */
  readonly related: readonly RelatedValue[]
}

interface Insert {
  /** `,"name":` */
  readonly prefix: Uint8Array
  readonly value: RelatedEntityValue
}

/** A single value of a row without anything around it: the end of an alias that passes through a N→1 relation. */
interface ValueTemplate {
  readonly kind: 'value'
  readonly dataClass: DataClass
  readonly value: ValueSource
  readonly related: readonly RelatedValue[]
}

export type Template = EntityTemplate | ValueTemplate

type Part =
  /** The slots `from` … `to - 1` with their names, as stored in the row. */
  | { readonly kind: 'slots'; readonly from: number; readonly to: number }
  /** `prefix` is `,"name":`. */
  | { readonly kind: 'attribute'; readonly prefix: Uint8Array; readonly value: ValueSource }

export type ValueSource =
  | SlotValue
  | AliasLink
  | { readonly kind: 'null' }
  | ScoreValue
  | BriefValue
  /** Some properties of an object. */
  | { readonly kind: 'properties'; readonly slot: number; readonly properties: PropertyTree; readonly brief?: Brief }
  | RelatedValue

/** Value as stored in the row. */
interface SlotValue {
  readonly kind: 'slot'
  readonly slot: number
}

/** Limit above which a value is sent as a link with its beginning. */
export interface Brief {
  /** Attribute in the link; undefined for an alias, since the caller may not be allowed to see anything else where the alias ends. */
  readonly attribute: ValueAttribute | undefined
  /** Maximum bytes of JSON that are sent whole. */
  readonly maxBytes: number
}

/** Value as stored in the row, if it is short. */
interface BriefValue {
  readonly kind: 'brief'
  readonly slot: number
  readonly brief: Brief
}

/** The deferred link of an alias that leads to many entities. */
interface AliasLink {
  readonly kind: 'link'
  readonly alias: AliasAttribute
}

/** `address.city,address.geo.lat` is `{city: whole, geo: {lat: whole}}`; an empty map stands for the whole value. */
export type PropertyTree = ReadonlyMap<string, PropertyTree>

/** Value that is written before the entity to which it belongs. */
export type RelatedValue = RelatedEntityValue | RelatedEntitiesValue | CalculatedValue

/** Score of a vector of the row; null without a vector. */
export interface ScoreValue {
  readonly kind: 'score'
  readonly attribute: StorageAttribute
  readonly similarity: Similarity
}

/** Value computed by code, which may read other entities. */
export interface CalculatedValue {
  readonly kind: 'calculated'
  readonly attribute: CalculatedAttribute
  readonly properties: PropertyTree
  readonly brief?: Brief | undefined
}

/** The entity at the end of the nth N→1 reference of the row, or null. */
export interface RelatedEntityValue {
  readonly kind: 'relatedEntity'
  readonly reference: number
  readonly of: Template
}

/** Entities at the end of relations of which at least one leads to many: a collection in the object form, else an array. */
export interface RelatedEntitiesValue {
  readonly kind: 'relatedEntities'
  /** One relation, or several along an alias. */
  readonly relations: readonly RelationAttribute[]
  /** The deferred link, which holds the URI of the collection. */
  readonly link: SlotValue | AliasLink
  readonly skip: number
  readonly count: number
  readonly of: EntityTemplate
}

const isRelated = (value: ValueSource): value is RelatedValue =>
  value.kind === 'relatedEntity' || value.kind === 'relatedEntities' || value.kind === 'calculated'

export function valueTemplate(dataClass: DataClass, value: ValueSource): ValueTemplate {
  return { kind: 'value', dataClass, value, related: isRelated(value) ? [value] : [] }
}

/** Puts the values of an entity into as few parts as their order allows. */
export function entityTemplate(
  layout: RowLayout,
  values: readonly { name: string; value: ValueSource }[],
): EntityTemplate {
  const parts: Part[] = []
  for (const { name, value } of values) {
    if (value.kind !== 'slot' || layout.slots[value.slot]!.name !== name) {
      parts.push({ kind: 'attribute', prefix: Buffer.from(`,${JSON.stringify(name)}:`), value })
      continue
    }
    const last = parts.at(-1)
    if (last?.kind === 'slots' && last.to === value.slot) parts[parts.length - 1] = { ...last, to: value.slot + 1 }
    else parts.push({ kind: 'slots', from: value.slot, to: value.slot + 1 })
  }
  const head = parts[0]?.kind === 'slots' && parts[0].from === 0 ? parts.shift() : undefined
  const headSlots = head?.kind === 'slots' ? head.to : 0
  return {
    kind: 'entity',
    dataClass: layout.dataClass,
    layout,
    opening: Buffer.from(`{"__entityModel":${JSON.stringify(layout.dataClass.name)},`),
    headSlots,
    parts,
    ...slicesOf(headSlots, parts),
    related: values.map(({ value }) => value).filter(isRelated),
  }
}

/** Template of the values of a row, separated by commas, without names. */
export function tableTemplate(layout: RowLayout, values: readonly ValueSource[]): EntityTemplate {
  return {
    ...entityTemplate(layout, []),
    parts: values.map((value, i) => ({ kind: 'attribute', prefix: Buffer.from(i === 0 ? '' : ','), value })),
    slices: undefined,
    related: values.filter(isRelated),
  }
}

/** Maximum number of inserts for each row. Their ranges share memory with the rows that are copied. */
const MAX_INSERTS = 16

function slicesOf(headSlots: number, parts: readonly Part[]): Pick<EntityTemplate, 'slices' | 'inserts'> {
  const slots = [ROW_HEAD, headSlots]
  const inserts: Insert[] = []
  let lastSlot = headSlots
  for (const part of parts) {
    if (part.kind === 'attribute' && part.value.kind === 'relatedEntity' && inserts.length < MAX_INSERTS) {
      slots.push(ROW_INSERT, inserts.length)
      inserts.push({ prefix: part.prefix, value: part.value })
    } else if (part.kind === 'slots' && part.from >= lastSlot) {
      slots.push(part.from, part.to)
      lastSlot = part.to
    } else return { slices: undefined, inserts: [] }
  }
  return { slices: { slots: Uint32Array.from(slots), lastSlot, inserts: inserts.length }, inserts }
}
