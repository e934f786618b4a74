import { ProtocolError } from '../../base/errors.ts'
import type { Change } from '../../data/change.ts'
import {
  cutReason,
  type FromLinkedWriter,
  type LinkEnd,
  type LinkedRequest,
  type ToLinkedWriter,
} from '../contract/link-messages.ts'
import { isWriteResult } from '../contract/messages.ts'
import type { WriteResultOf } from '../contract/requests.ts'
import { WaitingLink } from './waiting-link.ts'

/**
 * Synchronous writing from a function thread, because plugin code is synchronous. The writer thread handles these requests like those of
 * clients, and answers them when they are durable. Messages are declared in `engine/write/contract/link-messages.ts`.
 */
export class WriterLink {
  private readonly link: WaitingLink<ToLinkedWriter, FromLinkedWriter>

  /** @param connect passes the other end to `WriterClient.connect`, perhaps in another thread; transfers its port */
  constructor(connect: (end: LinkEnd) => void) {
    this.link = new WaitingLink(connect)
  }

  /** @throws {ProtocolError} */
  write<Request extends LinkedRequest>(
    request: Request,
  ): { result: WriteResultOf<Request>; changes: readonly Change[] } {
    const { outcome, changes = [] } = this.ask({ kind: 'write', request })
    return { result: outcome as WriteResultOf<Request>, changes }
  }

  /**
   * Begins a transaction, or a nested one that can be rolled back separately. Other requests wait until it ends; the writer ends it when it
   * times out.
   */
  begin(timeoutMs: number): void {
    this.ask({ kind: 'begin', timeoutMs })
  }

  /** Ends a transaction. @throws {ProtocolError} if it could not be committed; nothing was written then */
  finish(keep: boolean): void {
    this.ask({ kind: 'end', keep })
  }

  close(): void {
    this.link.close()
  }

  private ask(message: ToLinkedWriter): FromLinkedWriter {
    return checkMessage(this.link.ask(message, cutReason))
  }
}

function checkMessage(message: FromLinkedWriter): FromLinkedWriter {
  const { outcome } = message
  if (outcome && !isWriteResult(outcome)) throw new ProtocolError(outcome)
  return message
}
