import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { ColumnForm } from './column-form.ts'

/** A column as the database describes it. The type of a domain is its base type. */
export interface RemoteColumn {
  readonly name: string
  /** As in `pg_type`: `int4`, `varchar`; `_int4` for an array. */
  readonly type: string
  /** `atttypmod`; -1 without one. */
  readonly modifier: number
  /** SQL of the declared type, which may be a domain: `numeric(4,2)`. */
  readonly sqlType: string
  readonly isNullable: boolean
  /** Values of an enum, in their order; null for other types. */
  readonly labels: readonly string[] | null
  /** True if the database gives a new row a value: a default, an identity, or an expression. */
  readonly hasDefault: boolean
  /** True if the database computes the column from other columns. */
  readonly isGenerated: boolean
}

/** How values of a column are sent. */
export interface WrittenColumn {
  /** SQL of the type to which JSON is converted. */
  readonly type: string
  /** SQL of the value to store. @param sql SQL of the converted JSON value */
  value(sql: string): string
}

/** A unique index that the model does not declare. */
interface UniqueRule {
  /** Names of its columns, or of the columns in its expressions and its condition. */
  readonly columns: readonly string[]
  /** False if it compares expressions, or only rows that meet a condition. */
  readonly isPlain: boolean
}

/** A foreign key. */
interface Reference {
  readonly columns: readonly string[]
  /** Dataclass of the table to which it leads, if there is one. */
  readonly target: DataClass | undefined
}

/** The table of a dataclass, as the database describes it. */
export interface RemoteTable {
  readonly dataClass: DataClass
  /** Quoted, with its schema: `"public"."film"`. */
  readonly from: string
  /** Columns of each storage attribute: several for a key that consists of several columns. */
  readonly columns: ReadonlyMap<StorageAttribute, readonly RemoteColumn[]>
  readonly forms: ReadonlyMap<StorageAttribute, ColumnForm>
  /** Columns that can be written, by name. */
  readonly writtenColumns: ReadonlyMap<string, WrittenColumn>
  /** SQL of `__STAMP`, a whole number of 32 bits. @param alias name of the table in the statement */
  stamp(alias: string): string
  /** True if {@link stamp} changes with the row. */
  readonly hasStamps: boolean
  /** True if rows are read again after they were written, since a partitioned table does not return the numbers of transactions. */
  readonly isReadAgain: boolean
  /** SQL of `__TIMESTAMP`; undefined if the table does not record it. */
  readonly timestamp: string | undefined
  /**
   * True for a table whose rows change only by transactions of this database and are the same for all users: not a view, not a foreign
   * table.
   */
  readonly isOrdinary: boolean
  /** True if rules of the table rewrite statements: PostgreSQL refuses their changes in a part of a statement. */
  readonly hasRules: boolean
  /** Attributes of unique indexes by the names of the indexes, in a table that the server has created. */
  readonly uniqueIndexes: ReadonlyMap<string, StorageAttribute> | undefined
  /** Unique indexes of other tables, by name. */
  readonly uniqueRules: ReadonlyMap<string, UniqueRule>
  /** Foreign keys of the table, by name. */
  readonly references: ReadonlyMap<string, Reference>
  /** Columns of checks and of exclusion constraints, by the names of these. */
  readonly checks: ReadonlyMap<string, readonly string[]>
  /** True if the database has the function `tesser.fold`. */
  readonly hasFold: boolean
}

/** The tables of one connection. */
export interface RemoteTables {
  /**
   * The table of a dataclass; undefined if the dataclass is not in this database. @throws {ProtocolError} the table is missing, or does not
   * fit the model
   */
  find(dataClass: DataClass): RemoteTable | undefined
}
