import type { DataClass } from './dataclass.ts'
import type { TypeParameters } from './types/parameters.ts'
import type { Value } from './value.ts'
import type { PropertyType, StorageType } from './value-type.ts'

/**
 * Attributes inside the engine: every name resolved to an object, checked once when the model is loaded.
 * Source: base specification, 2.3; protocol notes, 3.1.
 */

export const METRICS = ['cosine', 'dot', 'euclidean'] as const
export type VectorMetric = (typeof METRICS)[number]
export type Scope = 'public' | 'private'

/** Ways to generate the value of a new entity that has none. */
export const AUTO_FILLS = ['increment', 'uuid', 'now', 'user'] as const
export type AutoFill = (typeof AUTO_FILLS)[number]

interface AttributeBase {
  readonly name: string
  readonly dataClass: DataClass
  readonly scope: Scope
  /** Position in the table, from 1; stays when the model changes. `fieldPos` of the catalog. */
  readonly position: number
  /** Description for people and programs that read the catalog. */
  readonly description: string | undefined
  /** Free-form, passed on in the catalog. */
  readonly extraProperties: Readonly<Record<string, unknown>> | undefined
}

export interface StorageAttribute extends AttributeBase, TypeParameters {
  readonly kind: 'storage'
  readonly type: StorageType
  /** Also true for the primary key, unique attributes and foreign keys. */
  readonly indexed: boolean
  /** True if values are unique, by folded text. Also true for the primary key. */
  readonly unique: boolean
  readonly mandatory: boolean
  readonly readOnly: boolean
  readonly minValue: number | undefined
  readonly maxValue: number | undefined
  readonly minLength: number | undefined
  readonly maxLength: number | undefined
  /** Source text of an RE2 expression that the whole value must match. */
  readonly pattern: string | undefined
  /** All values that it can have, in the order in which forms offer them. */
  readonly choices: readonly string[] | undefined
  readonly autoFill: AutoFill | undefined
  /** Value of a new entity for which none is given; never null. */
  readonly default: Value | undefined
  readonly defaultFormat: { readonly format: string } | undefined
  readonly multiLine: boolean
  /** Set only for objects: declarations of properties by path (`address.city`). */
  readonly properties: ReadonlyMap<string, DeclaredProperty>
  /** Set only for a column over a property, which is not among the attributes of its dataclass and has no slot in rows. */
  readonly source: PropertySource | undefined
  /**
   * Set only for the index of attributes that are unique together: those attributes, at least two. The index is not among the attributes of
   * its dataclass and has no slot in rows.
   */
  readonly together: readonly StorageAttribute[] | undefined
  /** Set only for a member of the head of rows, which is not among the attributes of its dataclass and has no slot in rows. */
  readonly head: HeadMember | undefined
  /** Set only for vectors. */
  readonly vector: VectorOptions | undefined
  /** Set for a stored calculated attribute: code computes its value at each save; otherwise it is like any other attribute. */
  readonly calculation: Calculation | undefined
}

/** Members of every row's head besides its key. Times are in milliseconds. */
export type HeadMember = 'stamp' | 'timestamp' | 'globalStamp'

/** Declared type of a property inside an object. */
export interface DeclaredProperty {
  readonly type: PropertyType
  /** Set if the property is indexed. */
  readonly columns: PropertyColumns | undefined
}

/** Columns over a property. A row with a value in neither of them has null there, or no such property. */
export interface PropertyColumns {
  /** Values with the JSON type of the declared type, as an attribute of type number, string or bool; indexed. */
  readonly values: StorageAttribute
  /** All other values, as an attribute of type blob: the column holds only their presence. */
  readonly others: StorageAttribute
}

/** Source of the values of a column over a property. */
export interface PropertySource {
  readonly object: StorageAttribute
  /** Path inside the object. */
  readonly names: readonly string[]
  /** JSON type of the values that have the declared type. */
  readonly type: JsonType
  readonly holds: 'values' | 'others'
}

export type JsonType = 'number' | 'text' | 'bool'

/** Kind of the values of a vector attribute, and options of their search. */
export interface VectorOptions {
  /** Numbers in each vector. */
  readonly dimension: number
  /** Usual metric of searches, and the metric of the index. */
  readonly metric: VectorMetric
  /** Options of the index; undefined if there is none. */
  readonly hnsw: HnswOptions | undefined
}

/** Source: Malkov, Yashunin, Efficient and robust approximate nearest neighbor search using HNSW graphs (2018), 4. */
interface HnswOptions {
  /** Neighbours of a vector in the graph. */
  readonly m: number
  /** Candidates while a vector is inserted. */
  readonly efConstruction: number
  /** Minimum number of candidates of a search; undefined: the index determines how many are enough. */
  readonly ef: number | undefined
}

/** Description, for every thread, of the code behind a calculated attribute. */
interface Calculation {
  /** True if it has a set handler, so that clients can assign a value. */
  readonly settable: boolean
  /** Changes with the code; empty when there is no code, so that the attribute is null. */
  readonly fingerprint: string
  /** True if its code reads everything: its value is the same for every caller. */
  readonly unrestricted?: boolean
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

/** Computed by plugin code at each read. Without code it reads as null and cannot be searched. */
export interface CalculatedAttribute
  extends AttributeBase,
    TypeParameters,
    Pick<StorageAttribute, 'type' | 'properties' | 'vector' | 'calculation'> {
  readonly kind: 'calculated'
}

/** Attribute whose values can be compared, sorted and aggregated, whatever their source. */
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

/** True if values are bytes, to which a row only links. */
export const isBinary = (type: StorageType): type is 'image' | 'blob' => type === 'image' || type === 'blob'

/** Attribute with its own bytes in a stored row: everything that depends only on this version of the entity. */
export type RowAttribute = StorageAttribute | RelationAttribute

export const isRowAttribute = (attribute: Attribute): attribute is RowAttribute =>
  attribute.kind === 'storage' || attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities'

/** True for texts of a database, which may differ even if their folds are equal. A UUID has only one spelling. */
export const isExactText = (attribute: Attribute): attribute is StorageAttribute =>
  attribute.kind === 'storage' && attribute.type === 'string' && attribute.dataClass.place.exactTexts

/**
 * True if rows hold the row ids of related entities: both ends of the relation are in the store. Otherwise the foreign key identifies them.
 */
export const isByRow = ({ dataClass, target }: RelationAttribute): boolean =>
  dataClass.place.isStore && target.place.isStore

export const isRelation = (attribute: Attribute): attribute is RelationAttribute =>
  attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities'
