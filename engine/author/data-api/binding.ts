import type { DataClass } from '../../catalog/dataclass.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { Rows } from '../../query/contract/rows.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import type { DataClassBase } from './data-class.ts'
import type { EntityBase } from './entity.ts'
import type { PendingRows, SelectionBase } from './entity-selection.ts'
import type { CodeSession } from './code-session.ts'
import type { NewRows } from './new-rows.ts'
import type { Reading } from './reading.ts'

/** Property of the prototypes of one code session: their dataclass in its store. */
export const BINDING = Symbol('tesser.binding')

/** A dataclass with the classes of its entities and selections. */
export interface Binding {
  readonly codeSession: CodeSession
  readonly dataClass: DataClass
  readonly layout: RowLayout
  /** `ds.Employee`. */
  readonly instance: DataClassBase
  /** Prototype of every entity: the methods of the plugin's class. */
  readonly entityPrototype: EntityBase
  /** Names of the fields that the classes of its entities declare. */
  readonly fields: ReadonlySet<string>
  readonly newRows: NewRows
  /** @param rowId undefined: a new entity @param reading the iteration that found it */
  entity(rowId: number | undefined, reading?: Reading): EntityBase
  /** @param rows a set is shown in the order of its keys */
  selection(rows: Rows | PendingRows | RowSet): SelectionBase
}

/** Property of the prototypes of the base classes: kind of their instances. */
export const KIND = Symbol('tesser.kind')

export const isEntity = (value: unknown): value is EntityBase => kindOf(value) === 'entity'
export const isSelection = (value: unknown): value is SelectionBase => kindOf(value) === 'selection'

const kindOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { [KIND]?: unknown })[KIND] : undefined
