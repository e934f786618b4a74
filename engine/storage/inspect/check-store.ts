import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import { checkEntitySets } from './check-entity-sets.ts'
import { CHANGE_BYTES } from '../change-log.ts'
import { checkFiles, type FileUses, use } from './check-files.ts'
import { isBinary } from '../../catalog/attribute.ts'
import { indexesOf } from '../../catalog/property-columns.ts'
import { decodeBinary } from '../../files/encode-binary.ts'
import { type CheckProgress, type StoreUnderCheck, TableCheck } from './check-table.ts'
import { type Environment, getBytes } from '../environment.ts'
import { prefixEnd, rowKey } from '../keys.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { orUnreadable } from './or-unreadable.ts'
import { readGlobalStamp } from '../store-state.ts'

/**
 * Finds all contradictions within a store: in rows, indexes, references, binaries, counters, change log, entity sets.
 *
 * All reads are of one commit if the problems are read synchronously: an `await` between two of them would move on to a newer commit.
 * @returns a text for each problem, as it is found
 */
export function* checkStore(
  environment: Environment,
  catalog: Catalog,
  layouts: ReadonlyMap<DataClass, RowLayout>,
  onProgress: (progress: CheckProgress) => void = () => {},
): Generator<string> {
  environment.root.resetReadTxn()
  const globalStamp = readGlobalStamp(environment)
  const store: StoreUnderCheck = { environment, layouts, globalStamp, onProgress }
  for (const dataClass of catalog.dataClasses) {
    yield* orUnreadable(dataClass.name, new TableCheck(store, dataClass).problems())
  }
  yield* orUnreadable('rows and indexes', checkForUnknown(environment, catalog))
  const uses: FileUses = new Map()
  yield* orUnreadable('images and blobs', checkBinaries(environment, catalog, layouts, uses))
  yield* orUnreadable(
    'files',
    checkFiles(environment, uses, (checkedFiles, total) =>
      onProgress({ dataClass: 'files', checkedRows: checkedFiles, rowCount: total }),
    ),
  )
  yield* orUnreadable('changes', checkChanges(environment, globalStamp))
  const remote = new Set(catalog.dataClasses.flatMap(each => (each.place.isStore ? [] : [each.tableNumber])))
  yield* orUnreadable('entity sets', checkEntitySets(environment, remote))
}

/** Rows and index entries of dataclasses and attributes that the model does not have. */
function* checkForUnknown(environment: Environment, catalog: Catalog): Generator<string> {
  const tables = new Map(catalog.dataClasses.map(dataClass => [dataClass.tableNumber, dataClass]))
  for (const prefix of distinctPrefixes(environment.rows, 2)) {
    const tableNumber = prefix.readUInt16BE(0)
    if (!tables.has(tableNumber)) yield `there are rows of table ${tableNumber}, which the model does not have`
  }
  for (const prefix of distinctPrefixes(environment.index, 4)) {
    const [tableNumber, position] = [prefix.readUInt16BE(0), prefix.readUInt16BE(2)]
    const table = tables.get(tableNumber)
    if (!table || !indexesOf(table).some(index => index.position === position)) {
      yield `there are index entries of attribute ${position} of table ${tableNumber}, which has no index in the model`
    }
  }
}

function* distinctPrefixes(table: Environment['rows'], length: number): Generator<Buffer> {
  let start: Buffer = Buffer.alloc(length)
  for (;;) {
    const [key] = table.getKeys({ start, limit: 1 })
    if (!key) return
    const prefix = Buffer.alloc(length)
    key.copy(prefix)
    yield prefix
    start = prefixEnd(prefix)
  }
}

/** Binaries without an entity that has them. The opposite case is checked with the rows. */
function* checkBinaries(
  environment: Environment,
  catalog: Catalog,
  layouts: ReadonlyMap<DataClass, RowLayout>,
  uses: FileUses,
): Generator<string> {
  const tables = new Map(catalog.dataClasses.map(dataClass => [dataClass.tableNumber, dataClass]))
  for (const key of environment.binaries.getKeys({ start: Buffer.alloc(1) })) {
    if (key.length !== 8) {
      yield `a binary has a key of ${key.length} bytes instead of 8`
      continue
    }
    const [tableNumber, rowId, position] = [key.readUInt16BE(0), key.readUInt32BE(2), key.readUInt16BE(6)]
    const dataClass = tables.get(tableNumber)
    const attribute = dataClass?.attributes.find(candidate => candidate.position === position)
    if (!dataClass || attribute?.kind !== 'storage' || !isBinary(attribute.type)) {
      yield `there is a binary of attribute ${position} of table ${tableNumber}, which the model does not have`
      continue
    }
    const where = `${dataClass.name}, row ${rowId}: the bytes of ${attribute.name}`
    const binary = decodeBinary(getBytes(environment.binaries, key)!, environment.files)
    if (!binary) yield `${where} are damaged`
    else if (!(binary.content instanceof Uint8Array)) use(uses, binary.content, where)
    const layout = layouts.get(dataClass)!
    const storedRow = getBytes(environment.rows, rowKey(tableNumber, rowId))
    if (!storedRow) yield `${where} belong to no row`
    // The row may be damaged: only null matters here.
    else if (isNull(new RowView(layout, storedRow), layout.slotOf.get(attribute)!))
      yield `${where} are there, but it is null`
  }
}

function isNull(row: RowView, slot: number): boolean {
  try {
    return row.json(slot) === 'null'
  } catch {
    return false
  }
}

function* checkChanges(environment: Environment, globalStamp: number): Generator<string> {
  let last: number | undefined
  for (const { key, value } of environment.changes.getRange({ start: Buffer.alloc(8) })) {
    last = key.readDoubleBE(0)
    if (value.length === 0 || value.length % CHANGE_BYTES !== 0) {
      yield `the change record of stamp ${last} has ${value.length} bytes`
    }
  }
  if (last !== undefined && last !== globalStamp) {
    yield `the last change record is of stamp ${last}, but the global stamp is ${globalStamp}`
  }
}
