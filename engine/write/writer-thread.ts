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
import { prepareStore } from '../migration/prepare-store.ts'
import type { ErrorData } from '../errors.ts'
import type { WriteJob } from './jobs.ts'
import { InteractiveJob, LinkedThread } from './linked-thread.ts'
import { type FromWriter, packRows, type ToWriter, type WriterThreadOptions } from './messages.ts'
import type { WriteResult } from './requests.ts'
import { Writer } from './writer.ts'
import type { LinkEnd, ToLinkedWriter } from './writer-link.ts'

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

interface OpenJob {
  job: WriteJob
  /** Number of a request of the client, or the thread that waits for it. */
  from: number | LinkedThread
}

function serve(writer: Writer, close: () => Promise<void>): void {
  let open: OpenJob[] = []
  let isClosing = false
  let isScheduled = false
  // After the messages that have arrived already, so that they all share a transaction.
  const schedule = (): void => {
    if (!isScheduled) setImmediate(advance)
    isScheduled = true
  }

  const advance = async (): Promise<void> => {
    isScheduled = false
    commit(open.filter(({ job }) => !(job instanceof InteractiveJob)))
    // One at a time, after what came meanwhile has been answered: it holds up all others.
    const interactive = open.find(({ job }) => job instanceof InteractiveJob)
    if (interactive) commit([interactive])
    // What had no room for a change is read again.
    fillMemory()
    if (open.length > 0) schedule()
    else if (isClosing) {
      await close()
      port.close()
    }
  }

  const commit = (together: readonly OpenJob[]): void => {
    Atomics.add(options.heartbeat, 0, 1)
    writer.commit(together.map(({ job }) => job))
    Atomics.add(options.heartbeat, 0, 1)
    open = open.filter(({ job }) => !job.outcome)
    const outcomes: { id: number; outcome: WriteResult | ErrorData }[] = []
    for (const { from, job } of together) {
      if (!job.outcome || job instanceof InteractiveJob) continue
      if (from instanceof LinkedThread) from.answer({ outcome: job.outcome })
      else outcomes.push({ id: from, outcome: job.outcome })
    }
    if (outcomes.length === 0) return
    const buffer = packRows(outcomes.map(({ outcome }) => outcome))
    post({ kind: 'done', outcomes }, [buffer])
  }

  const connect = (end: LinkEnd): void => {
    const thread = new LinkedThread(end)
    thread.port.on('message', (message: ToLinkedWriter) => {
      if (thread.refuse(message)) return
      if (message.kind === 'write') open.push({ from: thread, job: writer.begin(message.request) })
      else if (message.kind === 'begin') {
        open.push({
          from: thread,
          job: new InteractiveJob(thread, message.timeoutMs, request => writer.begin(request)),
        })
      }
      schedule()
    })
    // Links do not keep the thread alive when it is to stop.
    thread.port.unref()
  }

  port.on('message', (message: ToWriter) => {
    if (message.kind === 'connect') return connect(message)
    if (message.kind === 'close') isClosing = true
    else for (const { id, request } of message.requests) open.push({ from: id, job: writer.begin(request) })
    schedule()
  })
}
