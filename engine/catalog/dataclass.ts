import {
  type Attribute,
  isBinary,
  type RelatedEntityAttribute,
  type Scope,
  type StorageAttribute,
} from './attribute.ts'
import type { Place } from './place.ts'

/** A dataclass (table). Source: base specification, 2.2. */
export interface DataClass {
  readonly name: string
  /** Name of an entity selection on it, by default `{name}Selection`. */
  readonly collectionName: string
  /** Path of its address, percent-encoded: `/rest/Person`, after the base path if there is one. */
  readonly uri: string
  /** Table number from 1; names the tables in storage and is kept when the model changes. */
  readonly tableNumber: number
  readonly scope: Scope
  readonly defaultTopSize: number | undefined
  /** Description for people and programs that read the catalog. */
  readonly description: string | undefined
  readonly extraProperties: Readonly<Record<string, unknown>> | undefined
  readonly key: StorageAttribute
  /** Names for queries besides the attributes: `__KEY`, `__STAMP`, `__TIMESTAMP`, `__GlobalStamp`. */
  readonly head: ReadonlyMap<string, StorageAttribute>
  /** All attributes in the order of the model. */
  readonly attributes: readonly Attribute[]
  readonly attributesByName: ReadonlyMap<string, Attribute>
  /** Indexes of attributes that are unique together. */
  readonly uniqueTogether: readonly StorageAttribute[]
  /** N→1 relations of other dataclasses (and of this one) that point here, to be checked when an entity is deleted. */
  readonly referencedBy: readonly RelatedEntityAttribute[]
  readonly place: Place
  /** Table of the entities if they are in a database. */
  readonly remote: RemoteStorage | undefined
}

/** A table or a view in PostgreSQL that has the entities of a dataclass. */
export interface RemoteStorage {
  /** Name of the connection in the config file. */
  readonly connection: string
  readonly schema: string
  readonly table: string
  /** Column of `__STAMP`; undefined for `xmin`, the number of the transaction that wrote the row. */
  readonly stamp: string | undefined
  /** Column of `__TIMESTAMP`. */
  readonly timestamp: string | undefined
  readonly readOnly: boolean
  /** Columns of each storage attribute: several for a composite key. */
  readonly columns: ReadonlyMap<StorageAttribute, readonly string[]>
  /** Set if the server creates the table. */
  readonly ownedStorage: OwnedStorage | undefined
}

/** True if the column of an attribute is one of several of the key. */
export function isKeyPart(attribute: StorageAttribute): boolean {
  const { key, remote } = attribute.dataClass
  const [column] = remote?.columns.get(attribute) ?? []
  return attribute !== key && column !== undefined && remote!.columns.get(key)!.includes(column)
}

const withBinaries = new WeakMap<DataClass, boolean>()

/** True if entities have images or blobs. */
export function hasBinaries(dataClass: DataClass): boolean {
  let result = withBinaries.get(dataClass)
  if (result === undefined) {
    result = dataClass.attributes.some(each => each.kind === 'storage' && isBinary(each.type))
    withBinaries.set(dataClass, result)
  }
  return result
}

/** Names in an earlier model, so that a rename keeps the rows. */
export interface OwnedStorage {
  readonly formerTable: string | undefined
  /** Former names by column. */
  readonly formerColumns: ReadonlyMap<string, string>
}

/** Names of connections with tables that the server creates. */
export const ownedConnections = ({ dataClasses }: Catalog): ReadonlySet<string> =>
  new Set(dataClasses.flatMap(({ remote }) => (remote?.ownedStorage ? [remote.connection] : [])))

const DEFAULT_TOP = 100

/** Default number of entities of a page or of an expanded relation. */
export const defaultTop = ({ defaultTopSize }: DataClass): number => defaultTopSize ?? DEFAULT_TOP

/** The data model as loaded: immutable, the same in every thread. */
export interface Catalog {
  readonly name: string
  /** Start of the addresses of data: `/rest`, after the base path if there is one. */
  readonly restPath: string
  readonly dataClasses: readonly DataClass[]
  readonly dataClassesByName: ReadonlyMap<string, DataClass>
}

/** Choices of the protocol about the wire form of rows. */
export interface WireOptions {
  /** Form of date-only attributes: `2020-01-31` or the older `31!1!2020`. */
  readonly dateOnlyFormat: 'iso' | 'dmy'
  /** Path in front of `/rest` in links: `/data`. Absent when there is none. */
  readonly basePath?: string
}
