/** A database that is copied: its catalog and its rows, as of one moment. Nothing is ever written to it. */
export interface SqlSource {
  /** Address without the password, for messages. */
  readonly address: string
  /** True if the address or the terminal provided a password. */
  readonly hasPassword?: boolean
  /** Tables, and views of the given names, in a fixed order. */
  tables(views: ReadonlySet<string>): Promise<SourceTables>
  /** @param name each part is quoted */
  quote(...name: readonly string[]): string
  /** Returns the rows of a short result. */
  query(sql: string): Promise<Cell[][]>
  /** Returns the rows of a long result in chunks as they arrive, in bounded memory. */
  stream(sql: string, columns: readonly StreamedColumn[]): AsyncIterable<Cell[][]>
  /** Cancels the running statement; the source cannot be used afterwards. */
  cancel(): Promise<void>
  close(): Promise<void>
}

export type StreamedColumn = Pick<SourceColumn, 'isBinary'>

export interface SourceTables {
  readonly tables: readonly SourceTable[]
  /** Names of the views that are not among these tables. */
  readonly views: readonly string[]
  /** Losses: one sentence each. */
  readonly notes: readonly string[]
}

/** A value as the driver delivers it: strings for PostgreSQL and MariaDB, storage classes for SQLite. */
export type Cell = string | number | bigint | boolean | Uint8Array | null

/** Turns a value other than null into JSON. @throws {Error} with the reason why it has no value in an attribute */
export type ReadCell = (value: Exclude<Cell, null>) => string

export interface SourceTable {
  /** Name of the table, including the schema if another schema has a table of this name. */
  readonly name: string
  /** SQL of the table in a FROM clause. */
  readonly from: string
  readonly isView: boolean
  readonly columns: readonly SourceColumn[]
  /** Names of the columns of the primary key; empty without one. */
  readonly primaryKey: readonly string[]
  /** Names of the columns of other unique indexes, without conditions. */
  readonly uniques: readonly (readonly string[])[]
  /** First columns of indexes. */
  readonly indexed: ReadonlySet<string>
  readonly foreignKeys: readonly SourceForeignKey[]
  /** SQL of a number that identifies a row, where the table has no key. */
  readonly rowNumber?: string | undefined
  /** Set only for PostgreSQL. */
  readonly place?: SourcePlace
}

export interface SourcePlace {
  readonly schema: string
  readonly table: string
  readonly kind: 'table' | 'partitioned table' | 'view' | 'materialized view' | 'foreign table'
  /** Other tables inherit from it: their rows are among its own. */
  readonly hasHeirs: boolean
  /** The user of the connection may insert, update or delete. */
  readonly mayWrite: boolean
}

export interface SourceForeignKey {
  readonly columns: readonly string[]
  /** {@link SourceTable.name} of the other table. */
  readonly table: string
  readonly references: readonly string[]
  readonly onDelete: 'restrict' | 'cascade' | 'setNull'
}

/** Deletion controls by SQL keywords; any other keyword means `restrict`. */
export const ON_DELETE: Readonly<Record<string, SourceForeignKey['onDelete']>> = {
  CASCADE: 'cascade',
  'SET NULL': 'setNull',
}

export interface SourceColumn extends SourceType {
  readonly name: string
  /** Type as the database writes it. */
  readonly declaredType: string
  readonly isNullable: boolean
  /** New rows get the next number. */
  readonly increments: boolean
  readonly hasDefault: boolean
  /** Only the database sets it: an expression, or an identity that is always generated. */
  readonly isGenerated?: boolean
}

/** How a column is read, and the attribute that holds its values. */
export interface SourceType {
  /** Properties of a storage attribute: its type, and limits. */
  readonly attribute: AttributeProposal
  /** SQL of the value. @param quotedName name of the column; that alone by default */
  readonly read?: (quotedName: string) => string
  readonly cell: (type: string) => ReadCell
  /** The driver delivers bytes. */
  readonly isBinary?: boolean
  /** Set if the type depends on the values: aggregates over them, and the resulting type. */
  readonly measure?: Measure
  /** Type for any value that the column can ever have, where its values are not read. */
  readonly generalType?: SourceType
  /** A loss or a choice that the user should know, as the end of a sentence. */
  readonly note?: string
  /** True for a string of any form, as opposed to a string that represents another type. */
  readonly isText?: boolean
}

interface Measure {
  readonly aggregates: (quotedName: string) => readonly string[]
  readonly decide: (values: readonly Cell[]) => SourceType
}

export interface AttributeProposal {
  readonly type: string
  readonly [property: string]: unknown
}

/** Error of a database that cannot be used: a sentence with a remedy. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
}
