import type { ErrorData } from '../../base/errors.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { enqueueJobs } from '../../jobs/enqueue-jobs.ts'
import { keyText } from '../../row-format/row-layout.ts'
import { unpackRows } from '../contract/encoded-rows.ts'
import type {
  HeldLock,
  InsertRequest,
  ListLocksRequest,
  LoadProgress,
  LockRequest,
  WriteRequest,
  WriteResult,
  WriteResultOf,
} from '../contract/requests.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import { putCalculated } from '../entity/put-calculated.ts'
import { splitIdentity } from '../entity/row-identity.ts'
import { EncodedInsertion } from '../entity/insert-encoded.ts'
import type { StepContext, WriteSteps } from './step.ts'

type Kind = Exclude<WriteRequest['kind'], 'save' | 'delete'>
type RequestOf<K extends Kind> = Extract<WriteRequest, { kind: K }>
type Outcome<K extends Kind> = WriteResultOf<RequestOf<K>> | ErrorData

/** Work of all requests that take one step. `dataClass` is the dataclass that the request names. */
const WORK: {
  readonly [K in Kind]: (request: RequestOf<K>, context: StepContext, dataClass: DataClass) => Outcome<K>
} = {
  insert,
  lock,
  listLocks,
  freeLocks({ kind, owner }, { locks }) {
    locks.freeAll(owner)
    return { kind }
  },
  calculated({ kind, rows, fingerprints }, { transaction }, dataClass) {
    for (const row of rows) putCalculated(transaction, dataClass, row)
    if (fingerprints) transaction.putFingerprints(dataClass, fingerprints)
    return { kind }
  },
  enqueue: ({ kind, jobs }, context) => ({ kind, ids: enqueueJobs(context, jobs, Date.parse(context.timestamp)) }),
  entitySets({ kind, changes }, { transaction }) {
    for (const change of changes) transaction.putEntitySet(change)
    return { kind }
  },
  records({ kind, changes }, { transaction }) {
    for (const change of changes) transaction.putRecord(change)
    return { kind }
  },
  uploads({ kind, changes }, { transaction }) {
    for (const change of changes) transaction.putUpload(change)
    return { kind }
  },
}

/** A request that takes one step. */
export class OneStep implements WriteSteps {
  outcome: WriteResult | ErrorData | undefined

  /** @param dataClass undefined if the request names none */
  constructor(
    private readonly request: RequestOf<Kind>,
    private readonly dataClass: DataClass | undefined,
  ) {}

  step(context: StepContext): () => void {
    const { request, dataClass } = this
    const outcome = WORK[request.kind](request as never, context, dataClass!)
    return () => {
      this.outcome = outcome
    }
  }

  fail(error: ErrorData): void {
    this.outcome = error
  }
}

/** Inserts encoded entities. */
function insert(request: InsertRequest, context: StepContext, dataClass: DataClass): Outcome<'insert'> {
  const { transaction, timestamp, rules, beat } = context
  const saveRules = rules.get(dataClass)!
  const encodedRows = unpackRows(request.encoded, saveRules.indexes.length)
  const insertion = new EncodedInsertion({ transaction, timestamp, dataClass, rules: saveRules })
  const failedIndexes: number[] = []
  for (let i = 0; i < encodedRows.ends.length; i++) {
    beat()
    if (!insertion.add(encodedRows, i)) failedIndexes.push(i)
  }
  insertion.put()
  if (request.mark) {
    const { key, id } = request.mark
    transaction.putRecord({
      key,
      value: { id, next: encodedRows.ends.length, left: failedIndexes } satisfies LoadProgress,
    })
  }
  return { kind: 'insert', remainingIndexes: Uint32Array.from(failedIndexes) }
}

/** Locks or unlocks an entity; nothing is stored. */
function lock(request: LockRequest, { transaction, locks }: StepContext, dataClass: DataClass): Outcome<'lock'> {
  const { kind, rowId, holder } = request
  const row = { dataClass, rowId }
  if (!transaction.row(dataClass, rowId)) return WriteErrors.ENTITY_NOT_FOUND('', dataClass.name).toData()
  const blocker = locks.blocker(dataClass, rowId, holder.owner)
  if (blocker) return { kind, result: false, blocker: blocker.info }
  if (request.lock) return locks.take(row, holder) ? { kind, result: true } : WriteErrors.TOO_MANY_LOCKS().toData()
  return { kind, result: true, ...(!locks.free(row, holder.owner) && { wasNotLocked: true }) }
}

/** Lists locks; nothing changes. Deleted entities are left out. */
function listLocks({ kind, limit }: ListLocksRequest, context: StepContext): Outcome<'listLocks'> {
  const { transaction, locks, rules } = context
  const dataClasses = [...rules.keys()]
  const heldLocks: HeldLock[] = []
  let count = 0
  for (const { row, owner, info, expires } of locks.list()) {
    if (++count > limit) continue
    const { tableNumber, rowId } = splitIdentity(row)
    const dataClass = dataClasses.find(each => each.tableNumber === tableNumber)!
    const entity = transaction.row(dataClass, rowId)
    if (!entity) continue
    const key = keyText(transaction.layout(dataClass), entity.value(dataClass.key) as Value)
    const lock = { dataClass: dataClass.name, key, owner, info }
    heldLocks.push(Number.isFinite(expires) ? { ...lock, expires } : lock)
  }
  return { kind, count, locks: heldLocks }
}
