import { deserialize } from 'node:v8'
import type { AnswerBody } from '../../answer/answer-body.ts'
import type { Backend, BytesFound, BytesRead, DatabaseState, Deletion, Locking } from '../../backend/backend.ts'
import type { Caller } from '../../caller/caller.ts'
import { drive } from '../../data/suspended.ts'
import type { QueryPool } from '../../placement/pool/query-pool.ts'
import type { ReadRequest } from '../../query/contract/request.ts'
import type { TaskScope } from '../../query/tasks/task-kind.ts'
import type { Task } from '../../query/tasks/task.ts'
import type {
  DeleteRequest,
  DeleteResult,
  ListLocksResult,
  LockResult,
  SaveRequest,
  SaveResult,
} from '../../write/contract/requests.ts'
import { openPacked, PackedResult } from '../../write/contract/packed-result.ts'
import { DatabaseProbes } from './database-probes.ts'
import type { Probe } from './probe.ts'
import type { RemoteHere } from './remote-here.ts'
import type { RemoteTask, RemoteWriteTask } from './remote-tasks.ts'

interface PostgresBackendOptions {
  /** Thread that asks databases. */
  readonly remote: QueryPool<RemoteTask>
  /** Reads small pages and saves single entities in this thread; undefined if it does neither. */
  readonly here: RemoteHere | undefined
  /** Scope of tasks in this thread. */
  readonly scope: TaskScope
  /** Plugin code; undefined: there is none. */
  readonly code:
    | {
        read(task: Task, caller?: Caller): Promise<AnswerBody>
        drop(request: DeleteRequest, caller: Caller | undefined, read: ReadRequest): Promise<DeleteResult>
      }
    | undefined
  readonly hasDropEvents: (dataClass: string) => boolean
  /** True if some dataclass has restrict events. */
  readonly isRestricted: boolean
  /** Connections with dataclasses. */
  readonly connections: Iterable<string>
  /** Connections with tables that the server creates. */
  readonly ownedConnections: Iterable<string>
  /** True if several servers share locks. */
  readonly sharesLocks: boolean
}

/** Entities in PostgreSQL databases, which one thread asks. */
export class PostgresBackend implements Backend {
  private readonly probes: DatabaseProbes

  constructor(private readonly options: PostgresBackendOptions) {
    const probe = (connection: string, signal: AbortSignal): Promise<Probe> =>
      this.ask({ kind: 'remoteProbe', connection }, callerOf(signal), Date.now() + MAX_PROBE_MS)
    this.probes = new DatabaseProbes({ connections: [...options.connections], probe })
  }

  run(task: Task, caller?: Caller): Promise<AnswerBody> {
    const { code } = this.options
    return drive(
      () => this.answer(task, caller),
      needs => (needs.kind === 'code' && code ? () => code.read(task, caller) : undefined),
    )
  }

  async save(request: SaveRequest, caller?: Caller): Promise<SaveResult> {
    const { here, scope } = this.options
    if (here?.maySave(request)) return here.save(request, scope, caller)
    const bytes = (await this.options.remote.run({ kind: 'remoteSave', request }, caller)) as Uint8Array
    return bytes.buffer instanceof SharedArrayBuffer
      ? new PackedResult(openPacked(bytes))
      : (deserialize(bytes) as SaveResult)
  }

  delete(deletion: Deletion, caller?: Caller): Promise<DeleteResult> {
    const { code, hasDropEvents } = this.options
    const { read, ...options } = deletion
    const { dataClass, access } = read
    const withCode = () =>
      code!.drop({ kind: 'delete', dataClass, access, rowIds: new Uint32Array(0), ...options }, caller, read)
    if (hasDropEvents(dataClass)) return withCode()
    return drive(
      () => this.ask<DeleteResult>({ kind: 'remoteDelete', deletion }, caller),
      needs => (needs.kind === 'code' ? withCode : undefined),
    )
  }

  async lock(locking: Locking, caller?: Caller): Promise<LockResult> {
    const isCode = await this.isSeen(locking.read, caller)
    return this.ask({ kind: 'remoteLock', lock: { ...locking, isCode } }, caller)
  }

  async readBytes(bytes: BytesRead, caller?: Caller): Promise<BytesFound> {
    const isCode = await this.isSeen(bytes.read, caller)
    return this.ask({ kind: 'remoteBytes', bytes: { ...bytes, isCode } }, caller)
  }

  async listLocks(limit: number): Promise<ListLocksResult> {
    if (!this.options.sharesLocks) return { kind: 'listLocks', count: 0, locks: [] }
    return this.ask({ kind: 'remoteListLocks', limit })
  }

  async freeLocks(owner: string): Promise<void> {
    await this.ask({ kind: 'remoteFreeLocks', owner })
  }

  databases(): Promise<readonly DatabaseState[]> {
    return this.probes.states()
  }

  prepare(): void {
    // Failures are logged; a request tries again.
    for (const connection of this.options.ownedConnections)
      this.options.remote.run({ kind: 'remoteTables', connection }).catch(() => {})
  }

  warmUp(): void {
    this.options.remote.warmUp()
    void this.probes.states()
  }

  close(): Promise<void> {
    this.probes.close()
    return this.options.remote.close()
  }

  private async answer(task: Task, caller?: Caller): Promise<AnswerBody> {
    const { here, remote, scope } = this.options
    const answer = here?.mayRun(task) ? await here.run(task, scope, caller) : undefined
    return answer ?? (await remote.run(task, caller))
  }

  /**
   * Asks restrict events whether an entity exists. @returns true if the model has restrict events @throws {ProtocolError} the entity does
   * not exist
   */
  private async isSeen(request: ReadRequest, caller?: Caller): Promise<boolean> {
    const { isRestricted } = this.options
    if (isRestricted) await this.run({ kind: 'rowIds', request, args: { of: 'page' } }, caller)
    return isRestricted
  }

  private async ask<Result>(task: RemoteWriteTask, caller?: Caller, deadlineAt?: number): Promise<Result> {
    return deserialize((await this.options.remote.run(task, caller, deadlineAt)) as Uint8Array) as Result
  }
}

/** Maximum time of a probe with all its time limits, in milliseconds: the next one begins when it has ended. */
const MAX_PROBE_MS = 30_000

/** The server itself as a caller. @param signal aborts when it stops waiting */
const callerOf = (signal: AbortSignal): Caller => ({
  get aborted() {
    return signal.aborted
  },
  onAborted: callback => signal.addEventListener('abort', callback, { once: true }),
})
