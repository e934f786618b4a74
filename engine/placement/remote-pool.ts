import type { Connection } from '../postgres/database.ts'
import { QueryPool, type QueryPoolOptions } from './query-pool.ts'

/** Number of tasks that wait for databases at a time; further ones queue. */
const TASKS = 256

interface RemotePoolOptions extends Omit<QueryPoolOptions, 'threads' | 'entry'> {
  readonly connections: Readonly<Record<string, Connection>>
}

/** The single thread that asks databases: it waits for many of them at a time, and for none in the other threads. */
export const remotePool = ({ connections, ...options }: RemotePoolOptions): QueryPool =>
  new QueryPool({
    ...options,
    threads: 1,
    entry: {
      file: 'engine/threads/remote-thread.js',
      role: 'remote',
      data: { connections, indexStatus: undefined },
      tasksPerThread: TASKS,
    },
  })
