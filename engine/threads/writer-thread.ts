/**
 * Entry point of the writer thread, which owns all write transactions of a store. Requests that have arrived when a transaction
 * ends share the next one (group commit); a request that is larger than a slice takes part in several. Messages are declared in
 * `engine/write/contract`: `messages.ts`, and `link-messages.ts` for threads that write synchronously.
 */
import { randomUUID } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import { countThread } from '../base/counts/loop-delay.ts'
import { ModelError } from '../catalog/model-error.ts'
import { ImageSchedule } from '../memory/writer/image-schedule.ts'
import { MemoryWriter } from '../memory/writer/memory-writer.ts'
import { type OpenedForWriting, openForWriting } from '../storage/migration/open-for-writing.ts'
import { ProtocolError } from '../base/errors.ts'
import { Heartbeat } from '../write/contract/heartbeat.ts'
import type { WriteSteps } from '../write/steps/step.ts'
import { InteractiveSteps, LinkedThread } from '../write/steps/linked-thread.ts'
import { doneMessageOf, type FromWriter, type ToWriter, type WriterThreadOptions } from '../write/contract/messages.ts'
import { isLargeResult, packResult } from '../write/contract/packed-result.ts'
import { receiveSaves } from '../write/contract/plain-saves.ts'
import { receivedSave } from '../write/contract/sent-save.ts'
import { SharedBatches } from '../write/contract/shared-batches.ts'
import { Writer } from '../write/steps/writer.ts'
import type { LaterAnswers, LinkEnd, ToLinkedWriter } from '../write/contract/link-messages.ts'

/** Maximum time for which a write waits while the shared memory is filled. */
const FILL_SLICE_MS = 5

// Errors are sent to clients as data, without stacks.
ProtocolError.hasStacks = false

const port = parentPort!
const post = (message: FromWriter, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer)

const options = workerData as WriterThreadOptions
let memory: MemoryWriter | undefined
let isFilling = false
let isClosed = false
let clockOffsetMs = 0
let images: ImageSchedule | undefined
let storeHandle: OpenedForWriting | undefined
try {
  storeHandle = await openForWriting(options, {
    onNote: note,
    onProgress: step => post({ kind: 'progress', ...step }),
    onLost: loseStore,
  })
  const { store, created } = storeHandle
  memory =
    options.memory &&
    new MemoryWriter({
      memory: options.memory,
      store,
      folder: options.path,
      onError: reportInternalError,
      onNote: note,
    })
  const writer = new Writer({
    store,
    now: () => Date.now() + clockOffsetMs,
    randomUuid: () => randomUUID().replaceAll('-', '').toUpperCase(),
    onInternalError: reportInternalError,
    limits: options.limits,
    heartbeat: new Heartbeat(options.heartbeat),
    counts: countThread(options.counts, 'writer'),
    onStoreLost: loseStore,
    onEnqueued: () => post({ kind: 'enqueued' }),
    ...(memory && { onCommit: memory.committed.bind(memory) }),
  })
  const memoryLoad = memory?.load()
  serve(writer, store, async () => {
    isClosed = true
    await memoryLoad
    await images?.close()
    await storeHandle!.close()
  })
  post({ kind: 'ready', created, isLogged: store.isLogged })
  await memoryLoad
  if (memory && !isClosed) {
    images = new ImageSchedule(memory, options, note)
    if (memory.isBuilding) fillMemory()
    else post({ kind: 'memoryFilled' })
  }
} catch (error) {
  await storeHandle?.close()
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  post({ kind: 'refused', error: { name, message, ...(error instanceof ModelError && { problems: error.problems }) } })
}

/** Ends this thread after current requests have been answered. The next thread takes the store when it is free again. */
function loseStore(error: unknown): void {
  setImmediate(() => {
    throw error
  })
}

function reportInternalError(error: unknown): void {
  post({ kind: 'internalError', text: error instanceof Error ? `${error.stack}` : String(error) })
}

function note(text: string, level?: 'warn'): void {
  post({ kind: 'note', text, level })
}

/** Fills the shared memory slice by slice, so that writes can interleave. */
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

/** Prepares memory for the next large commit, until a request arrives. */
function provideMemory(): void {
  if (!memory?.isShort || isClosed) return
  memory.provide()
  setImmediate(provideMemory)
}

interface OpenRequest {
  steps: WriteSteps
  /** Number of a client's request, or the thread that sent it; a request with an `id` does not block that thread. */
  from: number | { readonly thread: LinkedThread; readonly id?: number }
}

function serve(writer: Writer, store: OpenedForWriting['store'], close: () => Promise<void>): void {
  let open: OpenRequest[] = []
  let isClosing = false
  let isScheduled = false
  const saves = new SharedBatches(options.batches.saves)
  const results = new SharedBatches(options.batches.results)
  // Runs after the messages that have already arrived, so that they all share a transaction.
  const schedule = (): void => {
    if (!isScheduled) setImmediate(advance)
    isScheduled = true
  }

  const advance = async (): Promise<void> => {
    isScheduled = false
    commit(open.filter(({ steps }) => !(steps instanceof InteractiveSteps)))
    // One at a time, and only after the other requests have been answered, because it holds up all others.
    const interactive = open.find(({ steps }) => steps instanceof InteractiveSteps)
    if (interactive) commit([interactive])
    // Reads tables again for which there was not enough memory when a change was applied.
    fillMemory()
    if (open.length > 0) schedule()
    else if (!isClosing) provideMemory()
    else {
      await close()
      port.close()
    }
  }

  /** Sends large results in advance: their answers are written while the shared memory is updated. */
  const announce = ({ from, steps: { outcome } }: OpenRequest, announced: Set<number>): void => {
    if (typeof from !== 'number' || announced.has(from) || !outcome || !isLargeResult(outcome)) return
    announced.add(from)
    post({ kind: 'durable', id: from, result: packResult(outcome) })
  }

  const commit = (together: readonly OpenRequest[]): void => {
    const announced = new Set<number>()
    writer.commit(
      together.map(({ steps }) => steps),
      () => {
        for (const request of together) announce(request, announced)
      },
    )
    open = open.filter(({ steps }) => !steps.outcome)
    const outcomes: { id: number; outcome: NonNullable<WriteSteps['outcome']> }[] = []
    const later = new Map<LinkedThread, LaterAnswers['outcomes'][number][]>()
    for (const { from, steps } of together) {
      const { outcome } = steps
      if (!outcome || steps instanceof InteractiveSteps) continue
      if (typeof from === 'number') {
        if (!announced.has(from)) outcomes.push({ id: from, outcome })
      } else if (from.id === undefined) from.thread.answer({ outcome })
      else if (!later.get(from.thread)?.push({ id: from.id, outcome }))
        later.set(from.thread, [{ id: from.id, outcome }])
    }
    for (const [thread, answers] of later) thread.answerLater(answers)
    if (outcomes.length + announced.size === 0) return
    const { message, transfer } = doneMessageOf(outcomes, [...announced], results)
    post(message, transfer)
  }

  const connect = (end: LinkEnd): void => {
    const thread = new LinkedThread(end)
    thread.port.on('message', (message: ToLinkedWriter) => {
      if (thread.refuse(message)) return
      if (message.kind === 'write') open.push({ from: { thread }, steps: writer.begin(message.request) })
      else if (message.kind === 'later') {
        for (const { id, request } of message.requests) {
          const steps = writer.begin(request.kind === 'save' ? receivedSave(request) : request)
          open.push({ from: { thread, id }, steps })
        }
      } else if (message.kind === 'begin') {
        open.push({
          from: { thread },
          steps: new InteractiveSteps(thread, message.timeoutMs, request => writer.begin(request)),
        })
      }
      schedule()
    })
    // Links must not keep the thread alive when it stops.
    thread.port.unref()
  }

  port.on('message', (message: ToWriter) => {
    if (message.kind === 'connect') return connect(message)
    if (message.kind === 'followed') return store.followedTo(message.sequence)
    if (message.kind === 'close') isClosing = true
    else {
      clockOffsetMs = message.clockOffsetMs
      const requests = message.kind === 'save' ? receiveSaves(saves, message.saves) : message.requests
      for (const { id, request } of requests) open.push({ from: id, steps: writer.begin(request) })
    }
    schedule()
  })
}
