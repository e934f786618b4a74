/**
 * Entry of the writer thread: owns all write transactions of a store. What has arrived when a transaction ends goes into
 * the next one together (group commit); a request that is larger than a slice takes part in several.
 */
import { randomUUID } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { ModelError } from '../catalog/model-error.ts'
import { ImageSchedule } from '../memory/image-schedule.ts'
import { MemoryWriter } from '../memory/memory-writer.ts'
import { openEnvironment } from '../storage/environment.ts'
import { prepareStore } from '../storage/migrate.ts'
import type { WriteJob } from './jobs.ts'
import { type FromWriter, packRows, type ToWriter, type WriterThreadOptions } from './messages.ts'
import { Writer } from './writer.ts'

/** How long a write may have to wait for the memory while it is filled. */
const FILL_SLICE_MS = 5

const port = parentPort!
const post = (message: FromWriter, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)

const options = workerData as WriterThreadOptions
let memory: MemoryWriter | undefined
let isFilling = false
let isClosed = false
let images: ImageSchedule | undefined
const environment = openEnvironment(options)
try {
  const { catalog, layouts, created, release } = prepareStore({
    ...options,
    environment,
    onProgress: step => post({ kind: 'progress', ...step }),
  })
  memory =
    options.memory &&
    new MemoryWriter({
      memory: options.memory,
      environment,
      catalog,
      layouts,
      folder: options.path,
      onError: reportInternalError,
      onNote: note,
    })
  const writer = new Writer({
    environment,
    catalog,
    layouts,
    now: Date.now,
    randomUuid: () => randomUUID().replaceAll('-', '').toUpperCase(),
    onInternalError: reportInternalError,
    ...(memory && { onCommit: memory.committed.bind(memory) }),
  })
  const loaded = memory?.load()
  serve(writer, async () => {
    isClosed = true
    await loaded
    await images?.close()
    release()
    await environment.close()
  })
  post({ kind: 'ready', created })
  await loaded
  if (memory && !isClosed) {
    images = new ImageSchedule(memory, options, note)
    if (memory.isBuilding) fillMemory()
    else post({ kind: 'memoryFilled' })
  }
} catch (error) {
  await environment.close()
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  post({ kind: 'refused', error: { name, message, ...(error instanceof ModelError && { problems: error.problems }) } })
}

function reportInternalError(error: unknown): void {
  post({ kind: 'internalError', text: error instanceof Error ? `${error.stack}` : String(error) })
}

function note(text: string): void {
  post({ kind: 'note', text })
}

/** A slice at a time, so that writes get in between. */
function fillMemory(): void {
  if (isFilling || isClosed || !memory?.isBuilding) return
  isFilling = true
  memory.build(FILL_SLICE_MS)
  setImmediate(() => {
    isFilling = false
    if (memory!.isBuilding) fillMemory()
    else post({ kind: 'memoryFilled' })
  })
}

function serve(writer: Writer, close: () => Promise<void>): void {
  let open: { id: number; job: WriteJob }[] = []
  let isClosing = false
  let isScheduled = false
  // After the messages that have arrived already, so that they all share a transaction.
  const schedule = (): void => {
    if (!isScheduled) setImmediate(advance)
    isScheduled = true
  }

  const advance = async (): Promise<void> => {
    isScheduled = false
    Atomics.add(options.heartbeat, 0, 1)
    writer.commit(open.map(({ job }) => job))
    Atomics.add(options.heartbeat, 0, 1)
    // What had no room for a change is read again.
    fillMemory()
    const done = open.filter(({ job }) => job.outcome)
    open = open.filter(({ job }) => !job.outcome)
    if (done.length > 0) {
      const outcomes = done.map(({ id, job }) => ({ id, outcome: job.outcome! }))
      const buffer = packRows(outcomes.map(({ outcome }) => outcome))
      post({ kind: 'done', outcomes }, [buffer])
    }
    if (open.length > 0) schedule()
    else if (isClosing) {
      await close()
      port.close()
    }
  }

  port.on('message', (message: ToWriter) => {
    if (message.kind === 'close') isClosing = true
    else for (const { id, request } of message.requests) open.push({ id, job: writer.begin(request) })
    schedule()
  })
}
