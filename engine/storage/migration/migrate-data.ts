import { BinaryTable } from '../binary-table.ts'
import { isBinary, type RelatedEntityAttribute, type RowAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { encodeRow } from '../../row-format/encode-row.ts'
import type { Environment } from '../environment.ts'
import { IndexBuild } from '../index-build.ts'
import { IndexWriter } from '../index-writer.ts'
import { attributeRange, binaryKey, prefixEnd, rowKey } from '../keys.ts'
import { convertStored, findByKey } from './convert-stored.ts'
import type { Progress } from '../../base/progress.ts'
import type { MigrationPlan, TableChange } from './plan-migration.ts'
import type { StoreOwner } from '../store-owner.ts'
import { keyText } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { readTableState } from '../store-state.ts'
import { type StoredRow, tableRows } from '../table-rows.ts'

/** Maximum number of rows or keys of a transaction, which limits memory and the work that a crash can undo. */
const SLICE = 5_000

interface MigrationContext {
  readonly environment: Environment
  readonly owner?: Pick<StoreOwner, 'verify'> | undefined
  readonly onProgress: Progress
}

/** Carries out a plan. Every step can be repeated, so a crash costs only time. */
export function migrateData(context: MigrationContext, { removedClasses, changes }: MigrationPlan): void {
  for (const { tableNumber } of removedClasses) {
    const prefix = Buffer.alloc(2)
    prefix.writeUInt16BE(tableNumber)
    for (const table of ['rows', 'index', 'binaries'] as const) clear(context, table, prefix, prefixEnd(prefix))
  }
  for (const change of changes) {
    const { tableNumber } = change.after
    for (const position of change.dropIndexes) {
      const { start } = attributeRange(tableNumber, position)
      clear(context, 'index', start, prefixEnd(start))
    }
    if (change.oldLayout.version !== change.newLayout.version) {
      rewriteAll(context, change, changes)
    }
    if (change.buildIndexes.length > 0) buildIndexes(context, change)
  }
}

function clear(
  { environment, owner }: MigrationContext,
  table: 'rows' | 'index' | 'binaries',
  start: Buffer,
  end: Buffer,
): void {
  for (;;) {
    const keys = [...environment[table].getKeys({ start, end, limit: SLICE })]
    if (keys.length === 0) return
    environment.root.transactionSync(() => {
      owner?.verify()
      for (const key of keys) {
        // Unused files are removed when the store is opened.
        if (table === 'binaries') new BinaryTable(environment).put(key, null)
        else environment[table].removeSync(key)
      }
    })
  }
}

function rewriteAll(
  { environment, owner, onProgress }: MigrationContext,
  change: TableChange,
  changes: readonly TableChange[],
): void {
  const { name, tableNumber } = change.after
  const total = readTableState(environment, tableNumber).rowCount
  for (let first = 0, done = 0; ; ) {
    const rows = [...tableRows(environment, tableNumber, first, SLICE)]
    if (rows.length === 0) return
    environment.root.transactionSync(() => {
      owner?.verify()
      for (const row of rows) rewrite(environment, change, changes, row)
    })
    first = rows.at(-1)!.rowId + 1
    done += rows.length
    onProgress({ dataClass: name, what: 'rewrite', done, total })
  }
}

function rewrite(
  environment: Environment,
  change: TableChange,
  changes: readonly TableChange[],
  { rowId, bytes }: StoredRow,
): void {
  const { after, oldLayout, newLayout, removedAttributes } = change
  const row = new RowView(oldLayout, bytes)
  // Rewritten before an interruption.
  if (row.layoutVersion === newLayout.version) return
  environment.rows.putSync(rowKey(after.tableNumber, rowId), convertRow(environment, change, changes, row))
  for (const { type, position } of removedAttributes) {
    if (isBinary(type)) new BinaryTable(environment).put(binaryKey(after.tableNumber, rowId, position), null)
  }
}

/** A row in the new layout. @param environment has the targets of new relations, in either layout */
export function convertRow(
  environment: Environment,
  { oldLayout, newLayout, keptPairs, filled, newRelations }: TableChange,
  changes: readonly TableChange[],
  row: RowView,
): Buffer {
  const values = new Map<RowAttribute, Value>()
  for (const { before, after } of keptPairs) {
    const value = row.value(before)
    values.set(after, value === null ? null : (convertStored(before, after, value) ?? null))
  }
  for (const attribute of filled) values.set(attribute, attribute.default!)
  const references = newLayout.references.map(relation => {
    if (newRelations.includes(relation)) return link(environment, relation, changes, values)
    const old = oldLayout.references.find(({ position }) => position === relation.position)!
    values.set(relation, row.value(old))
    return row.reference(oldLayout.referenceOf.get(old)!)
  })
  const { key, stamp, globalStamp, timestamp } = row
  return encodeRow(newLayout, { key, stamp, globalStamp, timestamp, values, references }) as Buffer
}

/**
 * Row id of the target of a new relation. A foreign key without a target becomes null, which is an accepted loss. Any other foreign key is
 * changed to the spelling of the target's key.
 */
function link(
  environment: Environment,
  relation: RelatedEntityAttribute,
  changes: readonly TableChange[],
  values: Map<RowAttribute, Value>,
): number | undefined {
  const { target, foreignKey } = relation
  const value = values.get(foreignKey) ?? null
  if (!target.place.isStore) {
    const { newLayout } = changes.find(({ after }) => after === target)!
    values.set(relation, value === null ? null : keyText(newLayout, value))
    return undefined
  }
  const rowId = value === null ? undefined : findByKey(environment, target, value)
  if (rowId === undefined) {
    values.set(foreignKey, null)
    values.set(relation, null)
    return undefined
  }
  const { oldLayout, newLayout } = changes.find(({ after }) => after === target)!
  const bytes = environment.rows.get(rowKey(target.tableNumber, rowId))!
  const row = new RowView(newLayout, bytes)
  const { key } = row.layoutVersion === newLayout.version ? row : new RowView(oldLayout, bytes)
  if (foreignKey.type === 'string') values.set(foreignKey, key)
  values.set(relation, key)
  return rowId
}

/** Builds indexes, whose former entries have been removed. */
function buildIndexes({ environment, owner, onProgress }: MigrationContext, change: TableChange): void {
  const { newLayout } = change
  const { name, tableNumber } = change.after
  const total = readTableState(environment, tableNumber).rowCount
  const build = new IndexBuild(change.buildIndexes, environment.path)
  try {
    let count = 0
    for (const { rowId, bytes } of tableRows(environment, tableNumber)) {
      const row = new RowView(newLayout, bytes)
      build.add(rowId, attribute => row.value(attribute) as Value)
      if (++count % SLICE === 0) onProgress({ dataClass: name, what: 'index', done: count / 2, total })
    }
    const indexes = new IndexWriter(environment.index)
    let written = 0
    for (const entries of build.entries()) {
      environment.root.transactionSync(() => {
        owner?.verify()
        indexes.putEntries(entries)
      })
      written += entries.rowIds.length
      const done = Math.round((count + written / change.buildIndexes.length) / 2)
      onProgress({ dataClass: name, what: 'index', done, total })
    }
  } finally {
    build.close()
  }
}
