import type { AnswerBody } from '../answer/answer-body.ts'
import type { Backend, Deletion, Locking } from '../backend/backend.ts'
import { copyBytes, type Promised } from '../base/promised.ts'
import type { Caller } from '../caller/caller.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import { rowIdsOf } from '../query/tasks/row-ids-task.ts'
import type { Task } from '../query/tasks/task.ts'
import type { OnDurable } from '../write/client/pending-writes.ts'
import type { WriterClient } from '../write/client/writer-client.ts'
import type {
  DeleteRequest,
  DeleteResult,
  InsertRequest,
  InsertResult,
  ListLocksResult,
  LockResult,
  SaveRequest,
  SaveResult,
  WriteRequest,
  WriteResultOf,
} from '../write/contract/requests.ts'
import { WriteErrors } from '../write/contract/write-errors.ts'
import type { TaskRunner } from './task-runner.ts'

interface StoreBackendOptions {
  readonly tasks: TaskRunner
  readonly writer: WriterClient
  /** Deletes entities of dataclasses with events; undefined: the dataclass has none. */
  readonly dropWithCode: (
    dataClass: string,
  ) => ((request: DeleteRequest, caller?: Caller) => Promise<DeleteResult>) | undefined
}

/** Entities in this store: read by tasks, changed by the writer thread. */
export class StoreBackend implements Backend {
  constructor(private readonly options: StoreBackendOptions) {}

  run(task: Task, caller?: Caller): Promised<AnswerBody> {
    return this.options.tasks.run(task, caller)
  }

  save(request: SaveRequest, caller?: Caller, onDurable?: OnDurable): Promise<SaveResult> {
    return this.write(request, caller, onDurable)
  }

  insert(request: InsertRequest): Promise<InsertResult> {
    return this.write(request)
  }

  async delete({ read, ...options }: Deletion, caller?: Caller): Promise<DeleteResult> {
    const { dataClass, access } = read
    const rowIds = await this.rowIds(read, 'selection', caller)
    if (rowIds.length === 0 && options.ifMatch) throw WriteErrors.NO_VERSION(dataClass)
    if (rowIds.length === 0) return { kind: 'delete', deleted: 0 }
    const request: DeleteRequest = { kind: 'delete', dataClass, access, rowIds, ...options }
    const withCode = this.options.dropWithCode(dataClass)
    const result = await (withCode ? withCode(request, caller) : this.write(request, caller))
    return { ...result, selected: rowIds.length }
  }

  async lock({ read, lock, holder }: Locking, caller?: Caller): Promise<LockResult> {
    const [rowId] = await this.rowIds(read, 'page', caller)
    return this.write({ kind: 'lock', dataClass: read.dataClass, rowId: rowId!, lock, holder }, caller)
  }

  listLocks(limit: number): Promise<ListLocksResult> {
    return this.options.writer.write({ kind: 'listLocks', limit })
  }

  async freeLocks(owner: string): Promise<void> {
    await this.options.writer.write({ kind: 'freeLocks', owner })
  }

  warmUp(): void {
    this.options.tasks.warmUp()
  }

  close(): Promise<void> {
    return this.options.tasks.close()
  }

  private async rowIds(request: ReadRequest, of: 'page' | 'selection', caller?: Caller): Promise<Uint32Array> {
    return rowIdsOf((await copyBytes(this.run({ kind: 'rowIds', request, args: { of } }, caller))) as Uint8Array)
  }

  private async write<Request extends WriteRequest>(
    request: Request,
    caller?: Caller,
    onDurable?: OnDurable,
  ): Promise<WriteResultOf<Request>> {
    const sentAt = performance.now()
    try {
      return await this.options.writer.write(request, onDurable)
    } finally {
      // Includes the time in the writer's queue, because requests share transactions.
      caller?.ran?.({ where: 'writer', waitedMs: 0, ranMs: performance.now() - sentAt })
    }
  }
}
