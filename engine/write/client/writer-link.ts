import { receiveMessageOnPort } from 'node:worker_threads'
import { ProtocolError } from '../../base/errors.ts'
import type { Change } from '../../data/change.ts'
import {
  ANSWERS,
  type CutState,
  cutReason,
  type FromLinkedWriter,
  type LinkEnd,
  type LinkedRequest,
  newLink,
  OPEN,
  REQUESTS,
  STATE,
  type ToLinkedWriter,
} from '../contract/link-messages.ts'
import { isWriteResult } from '../contract/messages.ts'
import type { WriteResultOf } from '../contract/requests.ts'

/**
 * Synchronous writing from a function thread, because plugin code is synchronous. Requests take the same way through the writer
 * thread as those of clients, and are answered when they are durable. Messages are declared in
 * `engine/write/contract/link-messages.ts`.
 */
export class WriterLink {
  private end: LinkEnd | undefined

  /** @param connect passes the other end to `WriterClient.connect`, perhaps in another thread; transfers its port */
  constructor(private readonly connect: (end: LinkEnd) => void) {}

  /** @throws {ProtocolError} */
  write<Request extends LinkedRequest>(
    request: Request,
  ): { result: WriteResultOf<Request>; changes: readonly Change[] } {
    const { outcome, changes = [] } = this.ask({ kind: 'write', request })
    return { result: outcome as WriteResultOf<Request>, changes }
  }

  /**
   * Begins a transaction, or a nested one that can be rolled back separately. Other requests wait until it ends; the writer ends
   * it when its time is over.
   */
  begin(timeoutMs: number): void {
    this.ask({ kind: 'begin', timeoutMs })
  }

  /** Ends a transaction. @throws {ProtocolError} if it could not be kept: nothing of it was written */
  finish(keep: boolean): void {
    this.ask({ kind: 'end', keep })
  }

  close(): void {
    this.end?.port.close()
    this.end = undefined
  }

  private ask(message: ToLinkedWriter): FromLinkedWriter {
    this.end ??= this.open()
    const { port, signal } = this.end
    port.postMessage(message)
    Atomics.add(signal, REQUESTS, 1)
    Atomics.notify(signal, REQUESTS)
    for (;;) {
      const seen = Atomics.load(signal, ANSWERS)
      const received = receiveMessageOnPort(port) as { message: FromLinkedWriter } | undefined
      if (received) return checked(received.message)
      const state = Atomics.load(signal, STATE)
      if (state !== OPEN) {
        this.close()
        throw cutReason(state as CutState)
      }
      Atomics.wait(signal, ANSWERS, seen)
    }
  }

  private open(): LinkEnd {
    const { own, other } = newLink()
    this.connect(other)
    return own
  }
}

function checked(message: FromLinkedWriter): FromLinkedWriter {
  const { outcome } = message
  if (outcome && !isWriteResult(outcome)) throw new ProtocolError(outcome)
  return message
}
