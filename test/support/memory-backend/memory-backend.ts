import { randomUUID } from 'node:crypto'
import type { AnswerBody } from '../../../engine/answer/answer-body.ts'
import type {
  Backend,
  BytesFound,
  BytesRead,
  Deletion,
  GivenBackend,
  Locking,
} from '../../../engine/backend/backend.ts'
import { ProtocolError } from '../../../engine/base/errors.ts'
import type { DataClass } from '../../../engine/catalog/dataclass.ts'
import { IN_STORE } from '../../../engine/catalog/place.ts'
import { drive } from '../../../engine/data/suspended.ts'
import { isShared } from '../../../engine/entity-set/members.ts'
import type { ReadRequest } from '../../../engine/query/contract/request.ts'
import { rowIdsOf } from '../../../engine/query/tasks/row-ids-task.ts'
import { planTask } from '../../../engine/query/tasks/task-kind.ts'
import type { Task } from '../../../engine/query/tasks/task.ts'
import type {
  DeleteResult,
  ListLocksResult,
  LockResult,
  SaveRequest,
  SaveResult,
  WriteRequest,
  WriteResultOf,
} from '../../../engine/write/contract/requests.ts'
import { WriteErrors } from '../../../engine/write/contract/write-errors.ts'
import { Writer } from '../../../engine/write/steps/writer.ts'
import { MemoryData } from './memory-data.ts'
import { MemoryTable } from './memory-tables.ts'
import { MemoryTransaction } from './memory-transaction.ts'

type Surroundings = Parameters<GivenBackend['open']>[0]

/** Entities of some dataclasses in maps of the kernel thread, with the rules of those in the store. */
export const memoryBackend = (...dataClasses: string[]): GivenBackend => ({
  dataClasses,
  place: { ...IN_STORE, isStore: false },
  open: surroundings => new MemoryBackend(dataClasses, surroundings),
})

class MemoryBackend implements Backend {
  private readonly dataClasses: ReadonlySet<DataClass>
  private readonly transaction: MemoryTransaction
  private readonly writer: Writer

  constructor(
    names: readonly string[],
    private readonly surroundings: Surroundings,
  ) {
    const { data, limits } = surroundings
    const { catalog, layouts } = data
    this.dataClasses = new Set(names.map(name => catalog.dataClassesByName.get(name)!))
    const empty = [...this.dataClasses].map(each => [each, new MemoryTable(layouts.get(each)!)] as const)
    this.transaction = new MemoryTransaction(new Map(empty), data)
    this.writer = new Writer({
      store: { catalog, transaction: () => this.transaction },
      now: Date.now,
      randomUuid: () => randomUUID().replaceAll('-', '').toUpperCase(),
      limits,
      onInternalError: error => {
        throw error
      },
    })
  }

  run(task: Task): Promise<AnswerBody> {
    const { data, scope } = this.surroundings
    const tables = new MemoryData(this.dataClasses, () => this.transaction.tables)
    const attempt = (): Uint8Array =>
      data.read(local => {
        const bytes = planTask(task, scope, tables.contextOf(local, scope.limits)).run()
        return isShared(bytes) ? bytes : bytes.slice()
      })
    return drive(attempt, needs =>
      needs.kind === 'rows' ? (needs.fetch as () => Promise<void>)().then(() => attempt) : undefined,
    )
  }

  async save(request: SaveRequest): Promise<SaveResult> {
    return this.write(request)
  }

  async delete({ read, ...options }: Deletion): Promise<DeleteResult> {
    const { dataClass, access } = read
    const rowIds = await this.rowIds(read, 'selection')
    if (rowIds.length === 0 && options.ifMatch) throw WriteErrors.NO_VERSION(dataClass)
    return { ...this.write({ kind: 'delete', dataClass, access, rowIds, ...options }), selected: rowIds.length }
  }

  async lock({ read, lock, holder }: Locking): Promise<LockResult> {
    const [rowId] = await this.rowIds(read, 'page')
    return this.write({ kind: 'lock', dataClass: read.dataClass, rowId: rowId!, lock, holder })
  }

  async listLocks(limit: number): Promise<ListLocksResult> {
    return this.write({ kind: 'listLocks', limit })
  }

  async freeLocks(owner: string): Promise<void> {
    this.write({ kind: 'freeLocks', owner })
  }

  async readBytes({ read, attribute, start, end }: BytesRead): Promise<BytesFound> {
    const [rowId] = await this.rowIds(read, 'page')
    const dataClass = this.surroundings.data.catalog.dataClassesByName.get(read.dataClass)!
    const { rows, binaries } = this.transaction.tables.get(dataClass)!
    const { key, stamp, version } = rows.get(rowId!)!
    const binary = binaries.get(`${rowId} ${attribute}`)
    if (!binary) return { key, value: undefined }
    return { key, value: { bytes: binary.bytes.subarray(start, end), size: binary.size, stamp, version } }
  }

  warmUp(): void {}

  async close(): Promise<void> {}

  private async rowIds(request: ReadRequest, of: 'page' | 'selection'): Promise<Uint32Array> {
    return rowIdsOf((await this.run({ kind: 'rowIds', request, args: { of } })) as Uint8Array)
  }

  /** @throws {ProtocolError} the request as a whole failed */
  private write<Request extends WriteRequest>(request: Request): WriteResultOf<Request> {
    const { data } = this.surroundings
    const local = data.snapshot()
    this.transaction.local = local
    try {
      const [outcome] = this.writer.run([request])
      if ('kind' in outcome!) return outcome as WriteResultOf<Request>
      throw new ProtocolError(outcome!)
    } finally {
      local.release()
      data.releaseSnapshot()
    }
  }
}
