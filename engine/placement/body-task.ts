import { randomUUID } from 'node:crypto'
import { move } from 'piscina'
import { ProtocolError } from '../base/errors.ts'
import { jsonMembers } from '../base/json-members.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { RowEncoder } from '../import/row-encoder.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import { packRows } from '../write/contract/encoded-rows.ts'
import type { BodyParts } from '../write/contract/requests.ts'
import { ElementEncoder } from '../write/body/element-encoder.ts'
import { parserOf } from '../write/body/parse-body.ts'
import { parseParts, splitBody } from '../write/body/split-body.ts'
import type { PoolStore } from './pool/answer-task.ts'
import type { BodyTask, PoolMessage, PoolOutcome, PoolThreadOptions } from './pool/messages.ts'

/**
 * Runs a {@link BodyTask} in a thread of the pool, until its deadline or until its caller disconnects.
 * @param store opens the store on first use
 */
export function runBodyTask(
  { task, deadlineAt, slot }: PoolMessage<BodyTask>,
  { limits: { timeoutMs }, cancelled }: PoolThreadOptions,
  store: () => PoolStore,
): PoolOutcome {
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const budget = new QueryBudget({ timeoutMs, deadlineAt, isCancelled })
  try {
    const between = () => budget.examine(0)
    if (task.kind === 'parts') return encodeParts(task, between, store)
    if (task.kind === 'rows') return encodeRows(task, between, store)
    const answer = task.kind === 'members' ? Buffer.from(membersText(task)) : split(task, between)
    return move(new Uint8Array(answer)) as unknown as Uint8Array
  } catch (error) {
    return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
  }
}

type Of<Kind extends BodyTask['kind']> = BodyTask & { kind: Kind }

/** Bounds of the rows that the elements of a client are encoded as: even an empty element becomes a row with all attributes. */
const MIN_ROW_BYTES = 2 ** 20
const MAX_GROWTH = 4
/** Bound of the rows of a batch from the operator. */
const MAX_ROW_BYTES = 64 * 2 ** 20

/** Rows between two checks of the budget. */
const ROWS_AT_ONCE = 256

const membersText = ({ body, bounds }: Of<'members'>): string => JSON.stringify(jsonMembers(body, bounds))

function split({ body, limits }: Of<'split'>, between: () => void): ArrayBuffer {
  const { many, ranges } = splitBody(body, limits, between)
  return Uint32Array.of(many ? 1 : 0, ...ranges).buffer
}

/** Decodes the answer of a {@link BodyTask} of kind `split`. */
export function readParts({ buffer, byteOffset, byteLength }: Uint8Array): BodyParts {
  const [many, ...ranges] = new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
  return { many: many === 1, ranges: Uint32Array.from(ranges) }
}

function encodeParts(
  { body, ranges, first, encode }: Of<'parts'>,
  between: () => void,
  store: () => PoolStore,
): Uint8Array {
  if (!encode) {
    parseParts(body, ranges, first, between)
    return new Uint8Array(0)
  }
  const bytes = ranges.length === 0 ? 0 : ranges.at(-2)! - ranges[0]!
  const { dataClass, encoder } = encoderFor(encode, store(), {
    maxBytes: MIN_ROW_BYTES + MAX_GROWTH * bytes,
    before: first,
    elements: elementCount(ranges),
  })
  parseParts(body, ranges, first, between, {
    parse: parserOf(dataClass),
    add: element => encoder.add(element),
    copier: encoder.copier,
  })
  return packRows(encoder.finish())
}

function encodeRows({ batch, encode }: Of<'rows'>, between: () => void, store: () => PoolStore): Uint8Array {
  const { format, ends } = batch
  const { buffer, byteOffset, byteLength } = batch.bytes
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const { dataClass, encoder } = encoderFor(encode, store(), { maxBytes: MAX_ROW_BYTES, elements: ends.length })
  const rows = new RowEncoder(dataClass, format, encoder)
  for (let i = 0, start = 0; i < ends.length; i++) {
    if (i % ROWS_AT_ONCE === 0) between()
    const end = ends[i]!
    rows.add(bytes, start, end)
    start = end
  }
  return packRows(encoder.finish())
}

/** Number of elements in ranges of `BodyParts`. */
function elementCount(ranges: Uint32Array): number {
  let count = 0
  for (let i = 2; i < ranges.length; i += 3) count += ranges[i]!
  return count
}

/** @param before number of elements before the first one to be encoded */
function encoderFor(
  encode: Of<'rows'>['encode'],
  { catalog, layouts, views, records }: PoolStore,
  { before = 0, ...bounds }: { maxBytes: number; elements: number; before?: number },
): { dataClass: DataClass; encoder: ElementEncoder } {
  const dataClass = catalog.dataClassesByName.get(encode.dataClass)!
  records.refresh()
  const encoder = new ElementEncoder(dataClass, {
    layouts,
    view: views.of(encode.access, encode.trusted ? 'code' : 'client'),
    trusted: encode.trusted ?? false,
    nextKey: records.tableState(dataClass.tableNumber).nextAutoIncrement + before,
    ...bounds,
    moment: encode.moment,
    user: encode.user ?? '',
    randomUuid: () => randomUUID().replaceAll('-', '').toUpperCase(),
  })
  return { dataClass, encoder }
}
