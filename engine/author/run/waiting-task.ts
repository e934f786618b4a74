import type { ProtocolError } from '../../base/errors.ts'
import type { SaveResult } from '../../write/contract/requests.ts'
import { WriterErrors } from '../../write/contract/writer-errors.ts'
import type { RunningCall } from '../declare/running-call.ts'
import { ResultStream, type Streaming } from './result-stream.ts'
import type { Later } from './run-call.ts'
import { settle } from './settle.ts'
import type { FunctionOutcome, FunctionTask, StreamHead, TaskOutcome } from './tasks.ts'

/** A save that the writer is processing. */
export interface Writing {
  /** Sends it. @param onAnswer called with the answer of the writer */
  begin(onAnswer: (result: SaveResult | ProtocolError) => void): void
  /** Continues with the answer. @throws the answer, if it is an error */
  complete(result: SaveResult | ProtocolError): TaskOutcome
}

interface Surroundings {
  /** Runs code of the task. */
  run(work: () => void): void
  /** Writes the result of a function. */
  writeResult(result: unknown): TaskOutcome | Streaming
  /** Runs the rest of a save. */
  complete(work: () => TaskOutcome): TaskOutcome
  failureOf(exception: unknown): TaskOutcome
  /** The outcome, or an error if the call has begun something that it does not wait for. */
  check(outcome: TaskOutcome): TaskOutcome
  finish(outcome: TaskOutcome): FunctionOutcome
  /** Called with faults that can no longer be reported to a client. */
  onFault(exception: unknown, place?: RunningCall['events'][number]['place']): void
  onHead(head: StreamHead): void
  onChunk(chunk: string | Uint8Array): number
  onEnd(outcome: FunctionOutcome): void
}

/** Name of a task that waits, for messages. */
export const nameOf = (task: FunctionTask): string =>
  task.kind === 'call' ? `the function ${task.fullName}` : 'a save or an asynchronous event of it'

/** A task from the first wait of its code to its outcome. */
export class WaitingTask {
  /** Name for messages. */
  readonly name: string
  private knownOutcome: TaskOutcome | undefined
  private stream: ResultStream | undefined
  private isWriting = false

  constructor(
    task: FunctionTask,
    readonly call: RunningCall,
    private readonly surroundings: Surroundings,
  ) {
    this.name = nameOf(task)
  }

  goOn(first: TaskOutcome | Later | Streaming | Writing): void {
    const { writeResult, complete, failureOf, check } = this.surroundings
    if ('begin' in first) {
      this.isWriting = true
      first.begin(result => {
        this.isWriting = false
        this.decided(complete(() => first.complete(result)))
      })
      return
    }
    if ('later' in first) {
      settle(
        first.later,
        result => this.take(writeResult(result)),
        exception => this.decided(check(failureOf(exception))),
      )
    } else if ('stream' in first) this.take(first)
    else this.decided(first)
  }

  /** Ends the task with an error. If its outcome is already known, only events still run, and the error is logged. */
  stop(exception: unknown): void {
    const { knownOutcome, surroundings, call } = this
    if (this.stream) {
      this.stream.stop(exception)
      return
    }
    if (knownOutcome && !call.hasEnded) surroundings.onFault(exception)
    // The writer may still save it.
    this.end(knownOutcome ?? surroundings.failureOf(this.isWriting ? WriterErrors.OUTCOME_UNKNOWN() : exception))
  }

  /** Called when the client has disconnected. The code is notified, and may continue. */
  gone(): void {
    this.call.abort(new DOMException('the client has gone', 'AbortError'))
    this.stream?.gone()
  }

  /** Called when the client has taken some of a stream. */
  taken(size: number): void {
    this.stream?.taken(size)
  }

  private take(result: TaskOutcome | Streaming): void {
    const { surroundings, call } = this
    if (!('stream' in result)) {
      this.decided(surroundings.check(result))
      return
    }
    if (call.hasEnded) return
    const { run, onHead, onChunk } = surroundings
    this.stream = new ResultStream(result.stream, {
      ...{ call, run, onHead, onChunk },
      onEnd: failure =>
        this.decided(surroundings.check(failure ? surroundings.failureOf(failure.exception) : { ended: true })),
    })
    this.stream.start()
  }

  private decided(outcome: TaskOutcome): void {
    this.knownOutcome = outcome
    if (this.call.events.length === 0) this.end(outcome)
    else void this.events().then(() => this.end(outcome))
  }

  private async events(): Promise<void> {
    for (const { place, settlement } of this.call.events) {
      const [event] = await settlement
      // The outcome of the save is decided already.
      if (event!.status === 'rejected' && !this.call.isReason(event!.reason))
        this.surroundings.onFault(event!.reason, place)
    }
  }

  private end(outcome: TaskOutcome): void {
    const { surroundings, call } = this
    if (!call.hasEnded) surroundings.onEnd(surroundings.finish(outcome))
  }
}
