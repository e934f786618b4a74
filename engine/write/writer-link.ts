import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { ProtocolError } from '../base/errors.ts'
import type { Change } from '../data/change.ts'
import {
  ANSWERS,
  type CutState,
  type FromLinkedWriter,
  type LinkEnd,
  type LinkedRequest,
  LOST,
  OPEN,
  REFUSED,
  REFUSED_DISK,
  REFUSED_STALLED,
  REQUESTS,
  STATE,
  type ToLinkedWriter,
} from './contract/link-messages.ts'
import { isWriteResult } from './contract/messages.ts'
import type { WriteResultOf } from './contract/requests.ts'
import { STALL_RETRY_SECONDS, WriterErrors } from './contract/write-errors.ts'

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
        throw reasonOf(state as CutState)
      }
      Atomics.wait(signal, ANSWERS, seen)
    }
  }

  private open(): LinkEnd {
    const { port1, port2 } = new MessageChannel()
    const signal = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT))
    this.connect({ port: port2, signal })
    return { port: port1, signal }
  }
}

function reasonOf(state: CutState): ProtocolError {
  switch (state) {
    case REFUSED:
      return WriterErrors.RESTARTING().retryAfter(1)
    case REFUSED_DISK:
      return WriterErrors.DISK_SILENT().retryAfter(STALL_RETRY_SECONDS)
    case REFUSED_STALLED:
      return WriterErrors.STALLED().retryAfter(STALL_RETRY_SECONDS)
    case LOST:
      return WriterErrors.OUTCOME_UNKNOWN()
  }
}

function checked(message: FromLinkedWriter): FromLinkedWriter {
  const { outcome } = message
  if (outcome && !isWriteResult(outcome)) throw new ProtocolError(outcome)
  return message
}
