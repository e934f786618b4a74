import type { Attribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { isJsonObject, ownMember } from '../../base/json-object.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import type { SaveBody } from '../../write/body/parse-body.ts'
import type { SaveRequest } from '../../write/contract/requests.ts'
import { convertKey } from '../../write/value/convert.ts'
import { isCancelled, isOfStatement, type StatementLimits, type Writable } from '../database/database.ts'
import type { LockGuard } from '../locks/shared-locks.ts'
import type { RemoteRows } from '../reads/remote-rows.ts'
import type { RemoteTable } from '../sql/remote-table.ts'
import { updateDifferentStatement } from '../sql/write-statements.ts'
import { type ChangeOutcome, type RemoteChange, RemoteTransaction } from './remote-transaction.ts'

/** An entity that a request names with the version that it has read. */
export interface NamedEntity {
  readonly key: Value
  readonly stamp: number
}

const MAX_STAMP = 0xffff_ffff

/**
 * The entity of a save that changes a single one, whose values are all sent as values of its own attributes.
 * @returns undefined for other saves
 */
export function namedEntity(request: SaveRequest, body: SaveBody, dataClass: DataClass): NamedEntity | undefined {
  const { mode, trusted, hooked, reads, anyStamp, ifMatch } = request
  if (mode !== 'update' || trusted || hooked || reads || anyStamp || ifMatch || body.length !== 1) return undefined
  const element = body.element(0)
  if (!isJsonObject(element)) return undefined
  const stamp = ownMember(element, '__STAMP')
  const sentKey = ownMember(element, '__KEY') ?? null
  if (sentKey === null || typeof stamp !== 'number' || !Number.isInteger(stamp) || stamp < 0 || stamp > MAX_STAMP)
    return undefined
  const isPlain = Object.keys(element).every(
    name => name.startsWith('__') || isOwnValue(dataClass.attributesByName.get(name), dataClass),
  )
  const key = isPlain ? convertKey(dataClass, sentKey) : null
  return key === null || key instanceof ProtocolError ? undefined : { key, stamp }
}

const isOwnValue = (attribute: Attribute | undefined, { key }: DataClass): boolean =>
  attribute?.kind === 'storage' && attribute !== key && !attribute.calculation

/** True for a table for which a statement that compares values and changes them in a row has the same effect as several statements. */
export const isDirect = ({ isOrdinary, isReadAgain, hasStamps, hasRules }: RemoteTable): boolean =>
  isOrdinary && !isReadAgain && hasStamps && !hasRules

/** Stands for a row that has not been read: it has the key and the stamp that a request names, and values that differ from all others. */
class UnreadRow extends RowView {
  constructor(
    layout: RowLayout,
    private readonly entity: NamedEntity,
  ) {
    super(layout, NO_BYTES)
  }

  override get stamp(): number {
    return this.entity.stamp
  }

  override reference(): undefined {
    return undefined
  }

  override value(attribute: Attribute): Value {
    return attribute === attribute.dataClass.key ? this.entity.key : Number.NaN
  }
}

const NO_BYTES = new Uint8Array(0)

/** A transaction of which one entity has not been read. */
export class DirectTransaction extends RemoteTransaction {
  private unread: { readonly rowId: number; readonly row: RowView } | undefined

  /** @param rowId of the entity */
  setUnread(rowId: number, dataClass: DataClass, entity: NamedEntity): void {
    this.unread = { rowId, row: new UnreadRow(this.layout(dataClass), entity) }
  }

  override findKey(): number | undefined {
    return this.unread?.rowId
  }

  override row(): RowView | undefined {
    return this.unread?.row
  }
}

/**
 * Changes an entity that has not been read, with one statement, if all of the values differ from its own.
 * @returns undefined if nothing has changed: the values have to be compared with those of the row, which `rows` has now, or the error of
 *   the statement has to be found in the usual way
 * @throws {ProtocolError} the database does not answer, or the request is over
 */
export async function updateDirectly(
  place: Writable,
  rows: RemoteRows,
  { key, stamp, values, timestamp }: Extract<RemoteChange, { kind: 'update' }>,
  limits: StatementLimits,
  guard: LockGuard | undefined,
): Promise<Extract<ChangeOutcome, { kind: 'done' }> | undefined> {
  const statement = updateDifferentStatement(rows.table, key, stamp, values, timestamp, guard?.(key))
  if (!statement) return undefined
  try {
    const found = await place.write(limits, run => run(statement), { isSingle: true, isKept: () => true })
    const [isChanged, ...cells] = found[0] ?? []
    if (isChanged === 't') return { kind: 'done', ...rows.encode(cells) }
    if (isChanged === 'f') rows.add(cells)
    else rows.addMissing([rows.idOf(key)])
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    if (isCancelled(error) || !isOfStatement(error as Error)) throw place.errorOf(error, limits.signal)
  }
  return undefined
}
