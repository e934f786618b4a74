import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { ErrorData } from '../base/errors.ts'
import type { StepContext, WriteJob } from './jobs.ts'
import type { WriteResult } from './contract/requests.ts'
import { WriterErrors } from './contract/write-errors.ts'
import {
  ANSWERS,
  type FromLinkedWriter,
  type LinkEnd,
  type LinkedRequest,
  OPEN,
  REQUESTS,
  STATE,
  type ToLinkedWriter,
} from './contract/link-messages.ts'

const BEAT_MS = 250

/** A thread that is linked to the writer, as the writer sees it. Messages are declared in `engine/write/contract/link-messages.ts`. */
export class LinkedThread {
  readonly port: MessagePort
  private readonly signal: Int32Array
  /** A transaction whose time was over and whose end the thread has still to hear of, as often as it is nested. */
  private overdue: { depth: number; timeoutMs: number } | undefined

  constructor({ port, signal }: LinkEnd) {
    this.port = port
    this.signal = signal
  }

  /** Refuses what belongs to a transaction that is over. @returns false when there is none */
  refuse(message: ToLinkedWriter): boolean {
    if (!this.overdue) return false
    this.answer({ outcome: WriterErrors.TRANSACTION_OVER(this.overdue.timeoutMs).toData() })
    if (message.kind === 'end' && --this.overdue.depth === 0) this.overdue = undefined
    return true
  }

  giveUp(depth: number, timeoutMs: number): void {
    this.overdue = { depth, timeoutMs }
  }

  answer(message: FromLinkedWriter): void {
    this.port.postMessage(message)
    Atomics.add(this.signal, ANSWERS, 1)
    Atomics.notify(this.signal, ANSWERS)
  }

  /** Its next message; undefined when none comes until `deadlineAt`, or the thread is gone. @param beat called while it waits */
  receive(deadlineAt: number, beat: () => void): ToLinkedWriter | undefined {
    for (;;) {
      beat()
      const seen = Atomics.load(this.signal, REQUESTS)
      const received = receiveMessageOnPort(this.port) as { message: ToLinkedWriter } | undefined
      if (received) return received.message
      const left = deadlineAt - Date.now()
      if (left <= 0 || Atomics.load(this.signal, STATE) !== OPEN) return undefined
      Atomics.wait(this.signal, REQUESTS, seen, Math.min(left, BEAT_MS))
    }
  }
}

/** How deep transactions of function code may be nested. Each is a child transaction of LMDB. */
const MAX_DEPTH = 8

/**
 * A transaction that function code drives from its thread: a request at a time, while the writer waits for the next. Alone
 * in its LMDB transaction, because what the code has done cannot be done once more.
 */
export class InteractiveJob implements WriteJob {
  outcome: WriteResult | ErrorData | undefined
  private isOver = false

  constructor(
    private readonly thread: LinkedThread,
    private readonly timeoutMs: number,
    private readonly begin: (request: LinkedRequest) => WriteJob,
  ) {}

  step(context: StepContext): () => void {
    const { transaction } = context
    const deadlineAt = Date.now() + this.timeoutMs
    const kept = transaction.attempt(() => this.serve(context, deadlineAt, 1))
    return () => {
      // No call waits when its time is over: the next one gets the answer.
      if (kept || !this.isOver) this.thread.answer({})
      this.outcome = { kind: 'transaction' }
    }
  }

  fail(error: ErrorData): void {
    this.thread.answer({ outcome: error })
    this.outcome = error
  }

  /** @returns whether the transaction is to be kept */
  private serve(context: StepContext, deadlineAt: number, depth: number): boolean {
    const { transaction } = context
    this.thread.answer({})
    while (!this.isOver) {
      const message = this.thread.receive(deadlineAt, context.beat)
      if (!message) {
        this.isOver = true
        this.thread.giveUp(depth, this.timeoutMs)
      } else if (message.kind === 'end') return message.keep
      else if (message.kind === 'begin') {
        if (depth === MAX_DEPTH) this.thread.answer({ outcome: WriterErrors.TOO_DEEP(MAX_DEPTH).toData() })
        else {
          transaction.attempt(() => this.serve(context, deadlineAt, depth + 1))
          if (!this.isOver) this.thread.answer({})
        }
      } else {
        const { changeCount } = transaction
        const job = this.begin(message.request)
        while (!job.outcome) job.step(context)(transaction.stamp)
        this.thread.answer({ outcome: job.outcome, changes: transaction.changesFrom(changeCount) })
      }
    }
    return false
  }
}
