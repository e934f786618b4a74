import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { ErrorData } from '../../base/errors.ts'
import type { Change } from '../../data/change.ts'
import type { StepContext, WriteSteps } from './step.ts'
import { isWriteResult, packRows } from '../contract/messages.ts'
import type { WriteResult } from '../contract/requests.ts'
import { WriterErrors } from '../contract/writer-errors.ts'
import {
  ANSWERS,
  type FromLinkedWriter,
  type LaterAnswers,
  type LinkEnd,
  type LinkedRequest,
  OPEN,
  REQUESTS,
  STATE,
  type ToLinkedWriter,
} from '../contract/link-messages.ts'

const BEAT_MS = 250

/** The writer's end of the link to another thread. Messages are declared in `engine/write/contract/link-messages.ts`. */
export class LinkedThread {
  readonly port: MessagePort
  private readonly signal: Int32Array
  /** A transaction that timed out and whose end has not been reported to the thread; `depth` is its nesting. */
  private overdue: { depth: number; timeoutMs: number } | undefined

  constructor({ port, signal }: LinkEnd) {
    this.port = port
    this.signal = signal
  }

  /** Refuses messages of a transaction that timed out. @returns false if no transaction did */
  refuse(message: ToLinkedWriter): boolean {
    if (!this.overdue) return false
    this.answer({ outcome: WriterErrors.TRANSACTION_OVER(this.overdue.timeoutMs).toData() })
    if (message.kind === 'end' && --this.overdue.depth === 0) this.overdue = undefined
    return true
  }

  giveUp(depth: number, timeoutMs: number): void {
    this.overdue = { depth, timeoutMs }
  }

  /** Answers requests for which the thread does not wait. */
  answerLater(outcomes: LaterAnswers['outcomes']): void {
    const saveResults = outcomes.flatMap(({ outcome }) =>
      isWriteResult(outcome) && outcome.kind === 'save' ? outcome : [],
    )
    this.port.postMessage({ outcomes } satisfies LaterAnswers, [packRows(saveResults)])
  }

  answer(message: FromLinkedWriter): void {
    const { outcome, changes } = message
    // A row is a small part of a buffer, all of which would be copied with the message.
    const isSave = outcome && isWriteResult(outcome) && outcome.kind === 'save'
    const sentMessage = changes ? { ...message, changes: changes.map(withOwnRow) } : message
    this.port.postMessage(sentMessage, isSave ? [packRows([outcome])] : [])
    Atomics.add(this.signal, ANSWERS, 1)
    Atomics.notify(this.signal, ANSWERS)
  }

  /**
   * Waits for the next message. @param beat called meanwhile @returns undefined if no message arrived before `deadlineAt`, or the thread is
   * gone
   */
  receive(deadlineAt: number, beat: () => void): ToLinkedWriter | undefined {
    for (;;) {
      beat()
      const requestCount = Atomics.load(this.signal, REQUESTS)
      const envelope = receiveMessageOnPort(this.port) as { message: ToLinkedWriter } | undefined
      if (envelope) return envelope.message
      const remainingMs = deadlineAt - Date.now()
      if (remainingMs <= 0 || Atomics.load(this.signal, STATE) !== OPEN) return undefined
      Atomics.wait(this.signal, REQUESTS, requestCount, Math.min(remainingMs, BEAT_MS))
    }
  }
}

const withOwnRow = (change: Change): Change => (change.row ? { ...change, row: new Uint8Array(change.row) } : change)

/** Maximum nesting of transactions of plugin code. Each is a child transaction of LMDB. */
const MAX_DEPTH = 8

/**
 * A transaction that plugin code drives from its thread, request by request; the writer waits for each. It shares its LMDB transaction with
 * no other request, because the work of the code cannot be repeated.
 */
export class InteractiveSteps implements WriteSteps {
  outcome: WriteResult | ErrorData | undefined
  private isOver = false

  constructor(
    private readonly thread: LinkedThread,
    private readonly timeoutMs: number,
    private readonly begin: (request: LinkedRequest) => WriteSteps,
  ) {}

  step(context: StepContext): () => void {
    const { transaction } = context
    const deadlineAt = Date.now() + this.timeoutMs
    const kept = transaction.attempt(() => this.serve(context, deadlineAt, 1))
    return () => {
      // After a timeout no call is waiting: the next one receives the answer.
      if (kept || !this.isOver) this.thread.answer({})
      this.outcome = { kind: 'transaction' }
    }
  }

  fail(error: ErrorData): void {
    this.thread.answer({ outcome: error })
    this.outcome = error
  }

  /** @returns true if the transaction is to be committed */
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
      } else if (message.kind === 'write') {
        const { changeCount } = transaction
        const steps = this.begin(message.request)
        while (!steps.outcome) steps.step(context)(transaction.stamp)
        this.thread.answer({ outcome: steps.outcome, changes: transaction.changesFrom(changeCount) })
      }
    }
    return false
  }
}
