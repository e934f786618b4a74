import type { DataClass } from './dataclass.ts'
import type { TypeParameters } from './types/parameters.ts'
import type { PropertyType, StorageType } from './value-type.ts'

/**
 * Attributes as the engine sees them: every name resolved to an object, checked once when the model is loaded.
 * Source: base specification, 2.3; protocol notes, 3.1.
 */

export const METRICS = ['cosine', 'dot', 'euclidean'] as const
export type VectorMetric = (typeof METRICS)[number]
export type Scope = 'public' | 'private'

interface AttributeBase {
  readonly name: string
  readonly dataClass: DataClass
  readonly scope: Scope
  /** Position in the table, from 1; kept when the model changes. `fieldPos` of the catalog. */
  readonly position: number
  /** Free-form, passed on in the catalog. */
  readonly extraProperties: Readonly<Record<string, unknown>> | undefined
}

export interface StorageAttribute extends AttributeBase, TypeParameters {
  readonly kind: 'storage'
  readonly type: StorageType
  /** Also true for the primary key, unique attributes and foreign keys. */
  readonly indexed: boolean
  /** By folded text. Also true for the primary key. */
  readonly unique: boolean
  readonly mandatory: boolean
  readonly readOnly: boolean
  readonly minValue: number | undefined
  readonly maxValue: number | undefined
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
  /** Source text of an RE2 expression that a whole value has to match. */
  readonly pattern: string | undefined
  readonly autoFill: 'increment' | 'uuid' | undefined
  readonly defaultFormat: { readonly format: string } | undefined
  readonly multiLine: boolean
  /** Only for objects: declared property paths (`address.city`), with what is known of them. */
  readonly properties: ReadonlyMap<string, DeclaredProperty>
  /** Only for a column over a property: it is none of the attributes of its dataclass and has no slot in rows. */
  readonly source: PropertySource | undefined
  /** Only for what stands in the head of each row: it is none of the attributes of its dataclass and has no slot in rows. */
  readonly head: HeadMember | undefined
  /** Only for vectors. */
  readonly vector: VectorOptions | undefined
  /** Set for a stored calculated attribute: code makes its value at each save, and all else treats it like any other. */
  readonly calculation: Calculation | undefined
}

/** Members of every row's head besides its key. Times are in milliseconds. */
export type HeadMember = 'stamp' | 'timestamp' | 'globalStamp'

/** Declared type of a property inside an object. */
export interface DeclaredProperty {
  readonly type: PropertyType
  /** When it is indexed. */
  readonly columns: PropertyColumns | undefined
}

/** Values of rows at a property, as attributes would hold them. A row in neither of them has null there, or nothing. */
export interface PropertyColumns {
  /** Values of the JSON type that the declared type has, of type number, string or bool; with an index. */
  readonly values: StorageAttribute
  /** Anything else. Of type blob: all that a column tells is that it is there. */
  readonly others: StorageAttribute
}

/** Source of the values of a column over a property. */
export interface PropertySource {
  readonly object: StorageAttribute
  /** The way inside it. */
  readonly names: readonly string[]
  /** JSON type of the values that have the declared type. */
  readonly type: JsonType
  readonly holds: 'values' | 'others'
}

export type JsonType = 'number' | 'text' | 'bool'

/** Kind of the values of a vector attribute, and options of their search. */
export interface VectorOptions {
  /** Numbers in each of them. */
  readonly dimension: number
  /** The metric that it is searched by mostly: that of its index. */
  readonly metric: VectorMetric
  /** Options of its index; undefined: there is none. */
  readonly hnsw: HnswOptions | undefined
}

/** Source: Malkov, Yashunin, Efficient and robust approximate nearest neighbor search using HNSW graphs (2018), 4. */
interface HnswOptions {
  /** Neighbours of a vector in the graph. */
  readonly m: number
  /** Candidates while a vector is inserted. */
  readonly efConstruction: number
  /** Candidates while it is searched, at least; undefined: as many as the index finds to be enough. */
  readonly ef: number | undefined
}

/** Description, for every thread, of the code behind a calculated attribute. */
interface Calculation {
  /** It has a set handler, so that clients may give it a value. */
  readonly settable: boolean
  /** Changes with the code; empty when there is none, so that the attribute is null. */
  readonly fingerprint: string
}

/** N→1. The related entity is found by the value of `foreignKey`, which the writer keeps valid. */
export interface RelatedEntityAttribute extends AttributeBase {
  readonly kind: 'relatedEntity'
  readonly target: DataClass
  readonly foreignKey: StorageAttribute
  readonly inverse: RelatedEntitiesAttribute | undefined
  /** Effect on this entity of deleting the related one. */
  readonly onDelete: 'restrict' | 'setNull' | 'cascade'
}

/** 1→N, the reverse of a N→1 relation of `target`. */
export interface RelatedEntitiesAttribute extends AttributeBase {
  readonly kind: 'relatedEntities'
  readonly target: DataClass
  readonly inverse: RelatedEntityAttribute
}

/** Computed for each read by the code of a plugin. Without code it reads as null and cannot be searched. */
export interface CalculatedAttribute
  extends AttributeBase,
    TypeParameters,
    Pick<StorageAttribute, 'type' | 'properties' | 'vector' | 'calculation'> {
  readonly kind: 'calculated'
}

/** Attribute with a value of its own that can be compared, sorted and summed up, wherever it comes from. */
export type ValueAttribute = StorageAttribute | CalculatedAttribute

/** Another name for the attribute at the end of a path. */
export interface AliasAttribute extends AttributeBase {
  readonly kind: 'alias'
  /** As in the model. */
  readonly path: readonly string[]
  /** Relations to follow, in order, with aliases inside the path already resolved. */
  readonly relations: readonly RelationAttribute[]
  /** Attribute at the end: never an alias. */
  readonly target: Exclude<Attribute, AliasAttribute>
}

export type RelationAttribute = RelatedEntityAttribute | RelatedEntitiesAttribute
export type Attribute =
  | StorageAttribute
  | RelatedEntityAttribute
  | RelatedEntitiesAttribute
  | CalculatedAttribute
  | AliasAttribute

/** Values are bytes, which a row only links to. */
export const isBinary = (type: StorageType): type is 'image' | 'blob' => type === 'image' || type === 'blob'

/** Attribute with bytes of its own in a stored row: everything that depends on this entity's version alone. */
export type RowAttribute = StorageAttribute | RelationAttribute

export const isRowAttribute = (attribute: Attribute): attribute is RowAttribute =>
  attribute.kind === 'storage' || attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities'

export const isRelation = (attribute: Attribute): attribute is RelationAttribute =>
  attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities'
