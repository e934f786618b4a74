import { readFile, statfs } from 'node:fs/promises'
import { histogram } from './base/counts/histogram.ts'
import { byLabel, counter, gauge, type Metric } from './base/counts/metric.ts'
import { COUNT, ROLES, type SharedCounts, type ThreadRole } from './base/counts/thread-counts.ts'
import type { Binaries } from './binary/binaries.ts'
import { BINARY_CACHE_BYTES } from './engine-options.ts'
import type { EngineParts } from './engine-parts.ts'

/** State and counters of an engine as metrics, summed over its threads when they are requested. */
export class EngineMetrics {
  private readonly times: ThreadTimes

  constructor(
    private readonly parts: EngineParts,
    private readonly binaries: Pick<Binaries, 'cacheUsage'>,
  ) {
    this.times = new ThreadTimes(parts.counts)
  }

  async read(): Promise<Metric[]> {
    const counts = this.parts.counts.sum()
    const pieces = this.binaries.cacheUsage
    const time = (name: string, help: string, start: number): Metric =>
      histogram(name, help, [{ labels: {}, cells: counts, start }])
    return [
      ...this.pool(),
      counter(
        'tesser_pool_refused_total',
        'Queries refused with 503 because the queue was full.',
        counts[COUNT.poolRefused]!,
      ),
      time('tesser_pool_wait_seconds', 'Time that queries waited for a thread of the pool.', COUNT.poolWaitTime),
      time('tesser_pool_run_seconds', 'Time that a thread of the pool worked on a query.', COUNT.poolRunTime),
      ...this.functions(),
      counter(
        'tesser_function_refused_total',
        'Refused calls of plugin code: the queue was full, or a breaker was open.',
        [...byLabel('reason', { queue: counts[COUNT.functionsBusy]!, breaker: counts[COUNT.functionsBroken]! })],
      ),
      time('tesser_function_wait_seconds', 'Time that calls waited for a function thread.', COUNT.functionWaitTime),
      time('tesser_function_run_seconds', 'Time that a function thread worked on a call.', COUNT.functionRunTime),
      ...this.writer(),
      counter(
        'tesser_writer_refused_total',
        'Writes refused because the queue was full.',
        counts[COUNT.writesRefused]!,
      ),
      counter(
        'tesser_writer_commits_total',
        'Durable commits; one commit can hold many requests.',
        counts[COUNT.commits]!,
      ),
      counter('tesser_writer_changes_total', 'Entities inserted, changed or deleted.', counts[COUNT.changes]!),
      time(
        'tesser_write_seconds',
        'Time from a write request to its durable outcome; its count divided by the number of commits is the average batch size.',
        COUNT.writeTime,
      ),
      time('tesser_writer_work_seconds', 'Time that the writer worked on a transaction.', COUNT.writerWorkTime),
      time('tesser_writer_commit_seconds', 'Time that a commit waited for the disk.', COUNT.writerCommitTime),
      counter(
        'tesser_cache_lookups_total',
        'Lookups in the caches of all threads: parsed filters, prepared plans, column segments outside shared memory, pieces of images and blobs.',
        [
          ...lookups('parse', counts[COUNT.parseHits]!, counts[COUNT.parseMisses]!),
          ...lookups('plan', counts[COUNT.planHits]!, counts[COUNT.planMisses]!),
          ...lookups('columns', counts[COUNT.columnHits]!, counts[COUNT.columnMisses]!),
          ...lookups('binary', pieces.hits, pieces.misses),
        ],
      ),
      ...(await this.databases()),
      ...this.memory(),
      ...(await this.disk()),
      ...(await this.times.read()),
      this.loopDelay(),
    ]
  }

  private loopDelay(): Metric {
    const { counts } = this.parts
    const roles = ROLES.map(role => ({ labels: { role }, cells: counts.sum(role), start: COUNT.loopDelay }))
    return histogram(
      'tesser_event_loop_delay_seconds',
      'Time that an event waits for its thread, sampled ten times a second.',
      roles,
    )
  }

  private pool(): Metric[] {
    const { threads, running, waiting } = this.parts.pool.load
    return [
      gauge('tesser_pool_threads', 'Threads of the pool for queries; they start with the first query.', threads),
      gauge('tesser_pool_tasks', 'Queries, running in a thread or waiting for a thread.', [
        ...byLabel('state', { running, waiting }),
      ]),
    ]
  }

  private functions(): Metric[] {
    if (!this.parts.code) return []
    const { threads, running, waiting, suspended, broken } = this.parts.code.load
    return [
      gauge('tesser_function_threads', 'Function threads, including threads that are still ending.', threads),
      gauge(
        'tesser_function_calls',
        'Calls of plugin code: running in a thread, waiting for a thread, or waiting for something else (suspended).',
        [...byLabel('state', { running, waiting, suspended })],
      ),
      gauge(
        'tesser_function_breakers_open',
        'Functions whose calls are refused because they ended their threads.',
        broken,
      ),
    ]
  }

  private writer(): Metric[] {
    const { writer } = this.parts
    const { waiting, waitingBytes, locks } = writer.load
    return [
      gauge('tesser_writer_up', '1 while writes are accepted.', writer.isRunning ? 1 : 0),
      gauge('tesser_writer_queue_requests', 'Write requests that wait or are being processed.', waiting),
      gauge(
        'tesser_writer_queue_bytes',
        'Total size of the bodies of write requests that wait or are being processed.',
        waitingBytes,
      ),
      gauge('tesser_locks', 'Locks on entities.', locks),
    ]
  }

  private async databases(): Promise<Metric[]> {
    const states = await this.parts.backends.databases()
    if (states.length === 0) return []
    const values = Object.fromEntries(states.map(({ name, status }) => [name, status === 'ready' ? 1 : 0]))
    return [
      gauge(
        'tesser_database_up',
        '1 if the database answers and all its dataclasses can be read.',
        byLabel('database', values),
      ),
    ]
  }

  private memory(): Metric[] {
    const { heap, options, entitySetStore, buffers, spools, exportSpools } = this.parts
    const { sets, bytes } = entitySetStore.usage
    const { diskBytes, guestBytes } = entitySetStore.sizes
    return [
      ...(heap
        ? [
            gauge(
              'tesser_memory_limit_bytes',
              'Limit of shared memory (storage.memoryBytes).',
              options.memoryBytes ?? 0,
            ),
            gauge('tesser_memory_used_bytes', 'Shared memory in use.', byLabel('use', heap.usedBytes())),
            gauge('tesser_memory_filled', '1 if everything that fits is in shared memory.', heap.isBuilt ? 1 : 0),
          ]
        : []),
      gauge(
        'tesser_buffers_limit_bytes',
        'Limit of the memory for request bodies and answers in transit (server.bufferBytes).',
        buffers.limitBytes,
      ),
      gauge('tesser_buffers_used_bytes', 'Memory used by request bodies and answers in transit.', buffers.usedBytes),
      gauge('tesser_spool_used_bytes', 'Disk space of large answers in transit.', spools.disk.usedBytes),
      gauge('tesser_export_used_bytes', 'Disk space of exports in transit.', exportSpools.disk.usedBytes),
      gauge('tesser_entity_sets_in_memory', 'Entity sets in memory.', sets),
      gauge('tesser_entity_sets_bytes', 'Memory used by entity sets.', bytes),
      gauge('tesser_entity_sets_stored_bytes', 'Disk space of entity sets.', diskBytes),
      gauge(
        'tesser_entity_sets_guest_bytes',
        'Disk space of entity sets that counts towards the limit for guests (entitySet.maxGuestBytes).',
        guestBytes,
      ),
      ...this.binary(),
    ]
  }

  private binary(): Metric[] {
    const { uploads, options } = this.parts
    const { kept, receiving, bytes, guestBytes } = uploads.load
    const limit = options.binaryCacheBytes ?? BINARY_CACHE_BYTES
    return [
      gauge(
        'tesser_binary_cache_limit_bytes',
        'Limit of the memory for pieces of images and blobs (storage.binaryCacheBytes).',
        limit,
      ),
      gauge(
        'tesser_binary_cache_used_bytes',
        'Memory used by recently read pieces of images and blobs.',
        this.binaries.cacheUsage.bytes,
      ),
      gauge(
        'tesser_uploads',
        'Uploads that are being received, or are kept until they are attached or expire.',
        byLabel('state', { receiving, kept }),
      ),
      gauge(
        'tesser_uploads_limit_bytes',
        'Limit of the total size of uploads (upload.maxPendingBytes).',
        uploads.limits.maxPendingBytes,
      ),
      gauge(
        'tesser_uploads_used_bytes',
        'Total size of uploads.',
        byLabel('of', { guests: guestBytes, users: bytes - guestBytes }),
      ),
    ]
  }

  private async disk(): Promise<Metric[]> {
    const { data, options } = this.parts
    const { path, mapSizeBytes } = options
    const [{ dataBytes, logBytes }, volume] = await Promise.all([data.records.sizes(), statfs(path)])
    return [
      gauge('tesser_store_bytes', 'Size of the data file; free pages in it are reused.', dataBytes),
      gauge('tesser_store_limit_bytes', 'Size that the data file can reach (storage.mapSizeBytes).', mapSizeBytes),
      gauge('tesser_log_bytes', 'Size of the commit log (storage.logBytes, storage.logHours).', logBytes),
      gauge('tesser_disk_free_bytes', 'Free space on the volume of the store.', volume.bavail * volume.bsize),
      gauge('tesser_disk_size_bytes', 'Size of the volume of the store.', volume.blocks * volume.bsize),
    ]
  }
}

const lookups = (cache: string, hits: number, misses: number): Metric['values'] => [
  { labels: { cache, result: 'hit' }, value: hits },
  { labels: { cache, result: 'miss' }, value: misses },
]

/** CPU time of threads by purpose, where the system reports it. For ended threads the last reading is kept. */
class ThreadTimes {
  /** Last reading by system id. */
  private readonly readings = new Map<number, { role: ThreadRole; seconds: number }>()
  private readonly endedSeconds: Partial<Record<ThreadRole, number>> = {}

  constructor(private readonly counts: SharedCounts) {}

  async read(): Promise<Metric[]> {
    const threads = this.counts.threads()
    const liveIds = new Set(threads.map(({ systemId }) => systemId))
    for (const [id, { role, seconds }] of this.readings) {
      if (liveIds.has(id)) continue
      this.endedSeconds[role] = (this.endedSeconds[role] ?? 0) + seconds
      this.readings.delete(id)
    }
    await Promise.all(
      threads.map(async ({ role, systemId }) => {
        const seconds = await cpuSeconds(systemId)
        if (seconds !== undefined) this.readings.set(systemId, { role, seconds })
      }),
    )
    const number: Partial<Record<ThreadRole, number>> = {}
    for (const { role } of threads) number[role] = (number[role] ?? 0) + 1
    const total = { ...this.endedSeconds }
    for (const { role, seconds } of this.readings.values()) total[role] = (total[role] ?? 0) + seconds
    return [
      gauge('tesser_threads', 'Threads by purpose.', byLabel('role', number)),
      counter('tesser_thread_cpu_seconds_total', 'CPU time of the threads (Linux).', byLabel('role', total)),
    ]
  }
}

/** CPU time of a thread; undefined where unknown. Source: Linux, Documentation/scheduler/sched-stats.rst. */
async function cpuSeconds(systemId: number): Promise<number | undefined> {
  if (systemId === 0) return undefined
  try {
    const nanoseconds = Number((await readFile(`/proc/self/task/${systemId}/schedstat`, 'utf8')).split(' ', 1)[0])
    return nanoseconds / 1e9
  } catch {
    return undefined
  }
}
