import type { MessagePort } from 'node:worker_threads'
import type { PoolThreadOptions } from '../../placement/pool/messages.ts'
import type { Task } from '../../query/tasks/task.ts'
import type { SaveLimits } from '../../write/contract/write-limits.ts'
import type { Connection } from '../database/database.ts'
import type { RemoteBytes } from '../reads/remote-bytes.ts'
import type { RemoteChange } from '../writes/remote-writer.ts'

/** A change of entities that are in a database, or bytes of one. The answer is the result, as `v8.serialize` writes it; undefined where there is none. That of a large save is in shared memory, as `joinPacked` writes it. */
export type RemoteWriteTask =
  | RemoteChange
  | { readonly kind: 'remoteBytes'; readonly bytes: RemoteBytes }
  | { readonly kind: 'remoteTables'; readonly connection: string }
  | { readonly kind: 'remoteProbe'; readonly connection: string }
  | { readonly kind: 'remoteFreeLocks'; readonly owner: string }
  | { readonly kind: 'remoteListLocks'; readonly limit: number }

/** Connects a function thread. */
interface RemoteLinkTask {
  readonly kind: 'remoteLink'
  readonly signal: Int32Array
  /** Port of the function thread. */
  readonly transfer: readonly [MessagePort]
}

/** Tasks of the thread that asks databases. Handled in `engine/threads/remote-thread.ts`. */
export type RemoteTask = Task | RemoteWriteTask | RemoteLinkTask

/** `workerData` of the thread that asks databases. */
export interface RemoteThreadOptions extends Omit<PoolThreadOptions, 'tasks'> {
  readonly saveLimits: SaveLimits
  readonly connections: Readonly<Record<string, Connection>>
  /** Several servers share locks. */
  readonly sharesLocks: boolean
  /** Names of the connections whose entities have events. */
  readonly serializable: readonly string[]
  /** Receives the number of locks of this thread, in shared memory. */
  readonly lockCount: Int32Array
}
