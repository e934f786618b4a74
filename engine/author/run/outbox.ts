import type { MessagePort } from 'node:worker_threads'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import type { RunningCall } from '../declare/running-call.ts'
import type { CodeLogLine } from './code-log.ts'
import type { CallOutcome, FromFunctionThread, FunctionOutcome } from './tasks.ts'

/** Maximum length of texts that are sent as strings; the kernel thread would have to copy and encode longer ones. */
const MAX_TEXT = 16 * 1024

/** Messages from a function thread to the kernel thread. */
export class Outbox {
  /** Outcomes that are sent together. They are sent before code runs, because it may be slow or end the thread. */
  private outcomes: CallOutcome[] = []
  /** Reason why outcomes are held back: the batch has not ended, or other saves of the same commit are ending. */
  private gathering: 'batch' | 'saves' | undefined

  constructor(private readonly port: MessagePort) {}

  post(message: FromFunctionThread, transfer: (ArrayBuffer | MessagePort)[] = []): void {
    this.port.postMessage(message, transfer)
  }

  log(log: CodeLogLine): void {
    this.post({ log })
  }

  connect(end: LinkEnd, to: 'writer' | 'remote'): void {
    this.post({ connect: end, to }, [end.port])
  }

  /** Sends a part of an answer that is a stream. @returns its size as the client will report it */
  chunk({ id }: RunningCall, text: string | Uint8Array): number {
    const chunk = bytesOfLong(text)
    // After the transfer, the bytes belong to the kernel thread.
    const { length } = chunk
    const isOwn = chunk instanceof Uint8Array && chunk !== text
    this.post({ call: id, chunk }, isOwn ? [chunk.buffer as ArrayBuffer] : [])
    return length
  }

  /** @param ranMs milliseconds since the start of the call */
  answer({ id }: RunningCall, outcome: FunctionOutcome, ranMs: number): void {
    this.outcomes.push({ call: id, outcome: encodeOutcome(outcome), ranMs })
    if (!this.gathering) this.sendOutcomes()
  }

  /** @param doneCount number of tasks of the batch, at its end */
  sendOutcomes(doneCount?: number): void {
    const { outcomes } = this
    if (outcomes.length === 0 && doneCount === undefined) return
    this.outcomes = []
    this.post(
      { outcomes, doneCount },
      outcomes.flatMap(({ outcome }) => buffersOf(outcome)),
    )
  }

  /** Sends the outcomes so far before waiting code resumes, unless several saves end together. */
  beforeCode(): void {
    if (this.gathering !== 'saves') this.sendOutcomes()
  }

  beginBatch(): void {
    this.gathering = 'batch'
  }

  endBatch(doneCount: number): void {
    this.gathering = undefined
    this.sendOutcomes(doneCount)
  }

  /** Runs work in which several tasks may end. */
  together(work: () => void): void {
    this.gathering = 'saves'
    try {
      work()
    } finally {
      this.gathering = undefined
      this.sendOutcomes()
    }
  }
}

function encodeOutcome(outcome: FunctionOutcome): FunctionOutcome {
  if ('body' in outcome) {
    const body = bytesOfLong(outcome.body)
    return body === outcome.body ? outcome : { ...outcome, body }
  }
  if (!('message' in outcome)) return outcome
  const { message } = outcome
  return { ...outcome, message: { ...message, body: bytesOfLong(message.body) } }
}

function bytesOfLong(body: Uint8Array | string): Uint8Array | string {
  if (typeof body !== 'string' || body.length <= MAX_TEXT) return body
  // Not allocated from the buffer pool, so that it can be transferred.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(body))
  bytes.write(body)
  return bytes
}

/** Bytes of an answer are transferred, not copied: they have no other owner. Bytes of members are shared. */
function buffersOf(outcome: FunctionOutcome): ArrayBuffer[] {
  const answer = 'saved' in outcome ? outcome.saved : 'message' in outcome ? outcome.message : outcome
  return 'body' in answer && answer.body instanceof Uint8Array ? [answer.body.buffer as ArrayBuffer] : []
}
