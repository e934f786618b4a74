import { receiveMessageOnPort } from 'node:worker_threads'
import { type ErrorData, ProtocolError } from '../base/errors.ts'
import { ANSWERS, type LinkEnd, newLink, OPEN, STATE } from '../write/contract/link-messages.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import type { Cells } from './database.ts'
import type { DescribedTables } from './described-tables.ts'
import type { RemoteCall, RemoteFetch } from './remote-needed.ts'
import type { RemoteChange } from './remote-writer.ts'

/** Messages to the thread that asks databases, which answers each. Handled in `engine/placement/remote-end.ts`. */
export type ToRemote = { readonly deadlineAt: number } & (
  | { readonly call: RemoteCall }
  | { readonly task: RemoteChange }
)

/** Answers, in the order of the messages: a thread waits for each. */
export type FromRemote =
  | { readonly rows: Cells[] }
  | { readonly result: unknown }
  | { readonly error: ErrorData }
  | { readonly fault: string }

/** Asks databases from a function thread, which waits for the answers, because plugin code is synchronous. */
export class RemoteLink {
  private end: LinkEnd | undefined

  /**
   * @param connect passes the other end to the thread that asks databases; transfers its port
   * @param tables of this thread
   */
  constructor(
    private readonly connect: (end: LinkEnd) => void,
    readonly tables: DescribedTables,
  ) {}

  /** @throws {ProtocolError} */
  fetch(fetch: () => RemoteFetch, deadlineAt: number): void {
    const asking = fetch()
    for (let step = asking.next(); !step.done; ) step = asking.next(this.run(step.value, deadlineAt))
  }

  /** @returns the result of a change: see {@link RemoteChange} @throws {ProtocolError} */
  change(connection: string, task: RemoteChange, deadlineAt: number): unknown {
    const lost = () => RemoteErrors.OUTCOME_UNKNOWN(connection)
    return (this.ask({ task, deadlineAt }, lost) as { result: unknown }).result
  }

  private run(call: RemoteCall, deadlineAt: number): Cells[] {
    const lost = () => RemoteErrors.AWAY(call.connection).retryAfter(1)
    try {
      return (this.ask({ call, deadlineAt }, lost) as { rows: Cells[] }).rows
    } catch (error) {
      this.tables.failed(call.connection, error)
      throw error
    }
  }

  /** @param lost error when the thread ends before it answers */
  private ask(message: ToRemote, lost: () => ProtocolError): FromRemote {
    this.end ??= this.open()
    const { port, signal } = this.end
    port.postMessage(message)
    for (;;) {
      const seen = Atomics.load(signal, ANSWERS)
      const received = receiveMessageOnPort(port) as { message: FromRemote } | undefined
      if (received) return checked(received.message)
      if (Atomics.load(signal, STATE) !== OPEN) {
        port.close()
        this.end = undefined
        throw lost()
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

function checked(message: FromRemote): FromRemote {
  if ('error' in message) throw new ProtocolError(message.error)
  if ('fault' in message) throw new Error(message.fault)
  return message
}
