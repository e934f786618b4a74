import type { DataClass } from '../../catalog/dataclass.ts'
import { type Connection, namesUsers } from '../database/database.ts'
import type { SaveLimits } from '../../write/contract/write-limits.ts'
import type { RemoteTask } from './remote-tasks.ts'
import { QueryPool, type QueryPoolOptions } from '../../placement/pool/query-pool.ts'

/** Number of tasks that wait for databases at a time; further ones queue. */
const TASKS = 256

interface RemotePoolOptions extends Omit<QueryPoolOptions, 'threads' | 'entry'> {
  readonly connections: Readonly<Record<string, Connection>>
  readonly saveLimits: SaveLimits
  readonly sharesLocks: boolean
  readonly serializable: readonly string[]
  readonly lockCount: Int32Array
}

/** The single thread that asks databases: it waits for many of them at the same time, so that no other thread has to wait. */
export const remotePool = ({
  connections,
  saveLimits,
  sharesLocks,
  serializable,
  lockCount,
  ...options
}: RemotePoolOptions): QueryPool<RemoteTask> =>
  new QueryPool<RemoteTask>({
    ...options,
    threads: 1,
    needsUser: namesUsers(connections),
    entry: {
      file: 'engine/threads/remote-thread.js',
      role: 'remote',
      data: { connections, saveLimits, sharesLocks, serializable, lockCount, indexStatus: undefined },
      tasksPerThread: TASKS,
    },
  })

/** Connections of dataclasses whose saves and deletions depend on what code reads. */
export const serializableConnections = (decidedClasses: readonly DataClass[]): string[] => [
  ...new Set(decidedClasses.flatMap(({ remote }) => (remote && !remote.readOnly ? remote.connection : []))),
]
