import { join } from 'node:path'
import type { Backend, BackendSurroundings, GivenBackend } from './backend/backend.ts'
import { Backends } from './backend/backends.ts'
import type { Caller } from './caller/caller.ts'
import { StoreBackend } from './placement/store-backend.ts'
import { PostgresBackend } from './postgres/run/postgres-backend.ts'
import type { ReadRequest } from './query/contract/request.ts'
import { threadId } from 'node:worker_threads'
import { ByteBudget } from './answer/byte-budget.ts'
import { SpoolFiles } from './answer/spool-files.ts'
import type { SharedCounts, ThreadCounts } from './base/counts/thread-counts.ts'
import type { ClassRegistry } from './author/declare/class-registry.ts'
import { HookedClasses } from './author/hooks/hooked-classes.ts'
import type { FunctionClient } from './author/run/function-client.ts'
import { Uploads } from './binary/uploads.ts'
import { isRelation } from './catalog/attribute.ts'
import { type Catalog, type DataClass, ownedConnections } from './catalog/dataclass.ts'
import { ModelError } from './catalog/model-error.ts'
import { CommitFeed } from './follow/commit-feed.ts'
import { IndexStatus, indexedVectors } from './data/vector-index.ts'
import {
  BUFFER_BYTES,
  ENTITY_SETS,
  type EngineOptions,
  POOL,
  SPOOL_BYTES,
  EXPORT_BYTES,
  SHARED_SET_BYTES,
  UPLOADS,
  VECTOR_INDEX,
} from './engine-options.ts'
import { EntitySetStore } from './entity-set/entity-set-store.ts'
import { EntitySets } from './entity-set/entity-sets.ts'
import type { ReadStore } from './data/read-store.ts'
import { changesOfSubject, type Note } from './data/store-options.ts'
import { SharedSets } from './cluster/shared-sets.ts'
import { SetTable } from './cluster/set-table.ts'
import { namesUsers } from './postgres/database/database.ts'
import { SharedDatabase } from './cluster/shared-database.ts'
import { openReadStore } from './open-read-store.ts'
import { SharedHeap } from './memory/heap/shared-heap.ts'
import { Permissions } from './permission/permissions.ts'
import { Views } from './permission/views.ts'
import { type PoolEvents, QueryPool, queryThread } from './placement/pool/query-pool.ts'
import type { RemoteTask } from './postgres/run/remote-tasks.ts'
import { RemoteHere } from './postgres/run/remote-here.ts'
import { Databases } from './postgres/tables/databases.ts'
import { RemoteWriter } from './postgres/writes/remote-writer.ts'
import { connectionProblems } from './postgres/tables/inspect-databases.ts'
import { remotePool, serializableConnections } from './postgres/run/remote-pool.ts'
import { SaveBodies } from './placement/save-bodies.ts'
import { SavedAnswers } from './placement/saved-answers.ts'
import { kernelRegistry } from './placement/task-registry.ts'
import { TaskRunner } from './placement/task-runner.ts'
import { VectorPool } from './placement/pool/vector-pool.ts'
import { ServerRecords } from './records/server-records.ts'
import { cutLink, type LinkEnd, LOST } from './write/contract/link-messages.ts'
import { SAVE_LIMITS } from './write/contract/write-limits.ts'
import type { WriterClient } from './write/client/writer-client.ts'

/** Threads and state that exist before the store is opened for reading. */
interface EngineThreads {
  readonly writer: WriterClient
  readonly memory: WebAssembly.Memory | undefined
  /** Classes of plugins. */
  readonly classes: ClassRegistry
  /** Set when plugins have classes. */
  readonly code: FunctionClient | undefined
  /** Counters of all threads. */
  readonly counts: SharedCounts
  /** Counters of this thread. */
  readonly ownCounts: ThreadCounts
}

/** Parts of an open store, wired to each other. */
export interface EngineParts extends EngineThreads {
  readonly options: EngineOptions
  readonly data: ReadStore
  readonly views: Views
  readonly permissions: Permissions
  readonly pool: QueryPool
  /** Set for a model with remote dataclasses. */
  readonly remote: QueryPool<RemoteTask> | undefined
  /** Connections of this thread. */
  readonly databases: Databases | undefined
  /** Set if several servers share the data that they keep for clients. */
  readonly clusterDatabase: SharedDatabase | undefined
  /** Set for a model with indexes of vectors. */
  readonly vectors: VectorPool | undefined
  readonly tasks: TaskRunner
  readonly backends: Backends
  readonly savedAnswers: SavedAnswers
  readonly heap: SharedHeap | undefined
  readonly hooked: HookedClasses
  readonly records: ServerRecords
  readonly entitySetStore: EntitySetStore
  readonly entitySets: EntitySets
  /** Entity sets that several servers share. */
  readonly sharedSets: SharedSets | undefined
  readonly uploads: Uploads
  readonly spools: SpoolFiles
  readonly exportSpools: SpoolFiles
  /** Memory of current request bodies and answers. */
  readonly buffers: ByteBudget
  readonly bodies: SaveBodies
  readonly commits: CommitFeed
}

type Connections = NonNullable<EngineOptions['connections']>

/**
 * Divides the connections to each database between this thread, which reads small pages and saves single entities, and the thread for
 * everything else. That thread also has the transactions of events.
 */
function shareConnections(
  connections: Connections,
  isShared: boolean,
  serializable: readonly string[],
): { here: Connections | undefined; remote: Connections } {
  const divided = isShared && Object.values(connections).every(({ maxConnections }) => maxConnections > 1)
  if (!divided) return { here: undefined, remote: connections }
  const remotePart = (name: string, all: number): number =>
    Math.max(1, Math.floor(all / (serializable.includes(name) ? 2 : 3)))
  const share = (part: (name: string, all: number) => number): Connections =>
    Object.fromEntries(
      Object.entries(connections).map(([name, each]) => [
        name,
        { ...each, maxConnections: part(name, each.maxConnections) },
      ]),
    )
  return { here: share((name, all) => all - remotePart(name, all)), remote: share(remotePart) }
}

/** Relations between two back ends outside the store, which no query could follow. */
function relationProblems({ dataClasses }: Catalog, { backends = [] }: EngineOptions): string[] {
  const placeOf = ({ name, remote }: DataClass): unknown =>
    remote ? 'database' : backends.find(each => each.dataClasses.includes(name))
  return dataClasses.flatMap(dataClass =>
    dataClass.attributes.filter(isRelation).flatMap(({ name, target }) => {
      const [from, to] = [placeOf(dataClass), placeOf(target)]
      return from && to && from !== to
        ? [`dataClasses.${dataClass.name}.attributes.${name}: it leads to another back end than that of its dataclass`]
        : []
    }),
  )
}

/** @throws error of the `open` of a back end; back ends that are already open are closed */
function openBackends(givenBackends: readonly GivenBackend[], surroundings: BackendSurroundings): Map<string, Backend> {
  const backendsByClass = new Map<string, Backend>()
  try {
    for (const each of givenBackends) {
      const backend = each.open(surroundings)
      for (const name of each.dataClasses) backendsByClass.set(name, backend)
    }
    return backendsByClass
  } catch (error) {
    for (const backend of new Set(backendsByClass.values())) backend.close().catch(() => {})
    throw error
  }
}

function sharedDatabase({ connections, sharedConnection }: EngineOptions, onNote: Note): SharedDatabase | undefined {
  const connection = sharedConnection === undefined ? undefined : connections?.[sharedConnection]
  return connection && new SharedDatabase(sharedConnection!, connection, onNote)
}

/** Opens a store that the writer thread has prepared, and connects everything that works on it. */
export function openParts(options: EngineOptions, threads: EngineThreads): EngineParts {
  const { writer, memory, classes, code, counts, ownCounts } = threads
  const { path, mapSizeBytes, model, wire, cacheBytes, limits, tasks: taskModules = [] } = options
  const { onInternalError } = options
  const onNote = changesOfSubject(options.onNote ?? (() => {}))
  const hookedClasses = new HookedClasses(classes.classes)
  const { restricted } = hookedClasses
  const store = { path, mapSizeBytes, model, wire, cacheBytes, memory, restricted, counts: counts.buffer }
  const data = openReadStore(store, ownCounts)
  const { catalog } = data
  const views = new Views(catalog)
  const permissions = new Permissions({ catalog, classes: classes.classes })

  const poolOptions = { ...POOL, ...options.pool }
  const events: PoolEvents = { onInternalError, onThreadEnd, onNote }
  const indexStatus = indexedVectors(catalog).length > 0 ? IndexStatus.allocate(catalog) : undefined
  const spoolFiles = (bytes: number) =>
    new SpoolFiles(join(path, 'spool'), ByteBudget.of(bytes), onInternalError ?? (() => {}))
  const spools = spoolFiles(options.spoolBytes ?? SPOOL_BYTES)
  const exportSpools = spoolFiles(options.exportBytes ?? EXPORT_BYTES)
  const buffers = options.buffers ?? ByteBudget.of(BUFFER_BYTES)
  const pooledOptions = { ...poolOptions, store, limits, events }
  const entry = queryThread(indexStatus, taskModules)
  const pool = new QueryPool({
    ...pooledOptions,
    entry,
    answers: { memory: buffers, spools, exportSpools },
    counts: ownCounts,
  })
  const saveLimits = { ...SAVE_LIMITS, ...options.write }
  const unknown = [...connectionProblems(catalog, options.connections ?? {}), ...relationProblems(catalog, options)]
  if (unknown.length > 0) throw new ModelError(unknown)
  const clusterDatabase = sharedDatabase(options, onNote)
  const serializable = serializableConnections(catalog.dataClasses.filter(each => hookedClasses.decides(each)))
  const shares = shareConnections(options.connections ?? {}, poolOptions.inlineCostMs > 0, serializable)
  const inDatabases = catalog.dataClasses.filter(each => each.remote)
  const hasRemote = inDatabases.length > 0
  const sharesLocks = clusterDatabase !== undefined
  const lockCount = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  const remote = hasRemote
    ? remotePool({
        ...pooledOptions,
        connections: shares.remote,
        saveLimits,
        sharesLocks,
        serializable,
        lockCount,
        answers: { memory: buffers, spools, exportSpools },
        counts: ownCounts,
        events: { ...events, onThreadEnd: remoteEnded },
      })
    : undefined
  const databases =
    remote && shares.here
      ? new Databases(catalog, {
          connections: shares.here,
          timeoutMs: limits.timeoutMs,
          onNote,
          makeTables: async connection =>
            ownedConnections(catalog).has(connection) && remote.run({ kind: 'remoteTables', connection }),
        })
      : undefined
  const here =
    databases &&
    new RemoteHere({
      catalog,
      data,
      databases,
      writer: new RemoteWriter({
        catalog,
        layouts: data.layouts,
        views,
        databases,
        limits: saveLimits,
        sharesLocks,
        now: Date.now,
        records: data.records,
      }),
      lockCount,
      serializable,
      restricted,
      timeoutMs: limits.timeoutMs,
      maxRowsExamined: limits.maxRowsExamined,
    })
  const index = options.vectorIndex ?? VECTOR_INDEX
  const vectors = indexStatus && new VectorPool({ ...pooledOptions, catalog, index, indexStatus })
  const needsUser = namesUsers(options.connections ?? {})
  code?.openStore(
    { open: { store, limits, saveLimits, sharesSessions: clusterDatabase !== undefined, needsUser } },
    { connect: (end, to) => (to === 'writer' ? writer.connect(end) : connectRemote(end)), onThreadEnd },
  )
  /** Links of function threads to the thread that asks databases. */
  const links = new Set<LinkEnd['signal']>()
  function connectRemote({ port, signal }: LinkEnd): () => void {
    links.add(signal)
    const end = (): void => {
      links.delete(signal)
      cutLink(signal, LOST)
    }
    remote!.run({ kind: 'remoteLink', signal, transfer: [port] }).catch(end)
    return end
  }
  function remoteEnded(): void {
    onThreadEnd()
    for (const signal of links) cutLink(signal, LOST)
    links.clear()
  }
  /** Frees the slots of ended threads: a thread that ended during a read would keep its version of the shared memory alive. */
  function onThreadEnd(): void {
    const readers = new Set([threadId, ...[pool, remote, vectors, code].flatMap(each => each?.threadIds ?? [])])
    if (memory) new SharedHeap(memory).freeSlotsOfOthers(id => readers.has(id))
    counts.freeBlocksOfOthers(id => readers.has(id) || id === writer.threadId)
  }

  const { inlineCostMs } = poolOptions
  const runWithCode = code?.read.bind(code)
  const reading = { data, views, limits, restricted }
  const registry = kernelRegistry(taskModules)
  const tasks: TaskRunner = new TaskRunner({
    ...reading,
    permissions,
    registry,
    inlineCostMs,
    pool,
    vectors,
    runWithCode,
    elsewhere: dataClass => backends.elsewhere(dataClass),
  })
  const hasDropEvents = (dataClass: string) => hookedClasses.onDrop(catalog.dataClassesByName.get(dataClass)!)
  const inStore = new StoreBackend({
    tasks,
    writer,
    dropWithCode: dataClass => (code && hasDropEvents(dataClass) ? code.drop.bind(code) : undefined),
  })
  const postgres =
    remote &&
    new PostgresBackend({
      remote,
      here,
      scope: tasks.scope,
      code,
      hasDropEvents,
      isRestricted: restricted.size > 0,
      connections: new Set(inDatabases.map(({ remote }) => remote!.connection)),
      ownedConnections: ownedConnections(catalog),
      sharesLocks,
    })
  const surroundings = { data, scope: { ...tasks.scope, limits, isTrial: false }, limits: saveLimits }
  const otherBackends = openBackends(options.backends ?? [], surroundings)
  for (const { name } of inDatabases) otherBackends.set(name, postgres!)
  const backends: Backends = new Backends(inStore, otherBackends, permissions)
  const savedAnswers = new SavedAnswers({ ...reading, backends })

  const sets = { ...ENTITY_SETS, ...options.entitySets }
  const storeOptions = { store: data.records, now: options.now ?? Date.now, onInternalError }
  const entitySetStore = new EntitySetStore({
    ...sets,
    ...storeOptions,
    guests: sets,
    write: changes => writer.write({ kind: 'entitySets', changes }),
  })
  const setData = {
    catalog,
    views,
    select: (request: ReadRequest, caller?: Caller) => backends.inner({ kind: 'members', request }, caller),
    live: (dataClass: DataClass) => data.read(snapshot => snapshot.table(dataClass).live),
    restricted,
  }
  const sharedSets =
    clusterDatabase &&
    new SharedSets({
      ...sets,
      ...storeOptions,
      table: new SetTable(clusterDatabase),
      catalog,
      guests: sets,
      memoryBytes: Math.min(sets.memoryBytes, SHARED_SET_BYTES),
    })
  return {
    ...threads,
    options,
    data,
    views,
    permissions,
    pool,
    remote,
    databases,
    clusterDatabase,
    vectors,
    tasks,
    backends,
    savedAnswers,
    heap: memory && new SharedHeap(memory),
    hooked: hookedClasses,
    records: new ServerRecords(data.records, changes => writer.write({ kind: 'records', changes })),
    entitySetStore,
    entitySets: new EntitySets(entitySetStore, setData, sets, sharedSets),
    sharedSets,
    uploads: new Uploads({
      ...storeOptions,
      write: changes => writer.write({ kind: 'uploads', changes }),
      limits: { ...UPLOADS, ...options.uploads },
    }),
    spools,
    exportSpools,
    buffers,
    bodies: new SaveBodies({ pool, limits: saveLimits, inlineCostMs, now: options.now ?? Date.now }),
    commits: new CommitFeed({ data, pool, writer, limits, followers: Object.keys(options.log?.followers ?? {}) }),
  }
}
