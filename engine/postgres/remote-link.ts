import { receiveMessageOnPort } from 'node:worker_threads'
import { type ErrorData, ProtocolError } from '../base/errors.ts'
import type { Catalog } from '../catalog/dataclass.ts'
import type { Note } from '../data/store-options.ts'
import { ANSWERS, type LinkEnd, newLink, OPEN, STATE } from '../write/contract/link-messages.ts'
import { RemoteErrors } from '../data/remote-errors.ts'
import type { Cells, StatementLimits } from './database.ts'
import { DescribedTables } from './described-tables.ts'
import type { RemoteCall, RemoteFetch } from './remote-needed.ts'
import type { RemoteChange } from './remote-writer.ts'

/** Limits of a question. */
export type RemoteLimits = Omit<StatementLimits, 'signal'>

/** Questions to the thread that asks databases, which answers each. */
export type RemoteQuestion = RemoteLimits & ({ readonly call: RemoteCall } | { readonly task: RemoteChange })

/** Messages to that thread. Handled in `engine/placement/remote-end.ts`. */
export type ToRemote = RemoteQuestion | { readonly note: Parameters<Note> }

/** Answers, in the order of the questions: a thread waits for each. */
export type FromRemote =
  | { readonly rows: Cells[] }
  | { readonly result: unknown }
  | { readonly error: ErrorData }
  | { readonly fault: string }

/** Asks databases from a function thread, which waits for the answers, because plugin code is synchronous. */
export class RemoteLink {
  private end: LinkEnd | undefined

  /** Tables of this thread. */
  readonly tables: DescribedTables

  /** @param connect passes the other end to the thread that asks databases; transfers its port */
  constructor(
    private readonly connect: (end: LinkEnd) => void,
    catalog: Catalog,
  ) {
    this.tables = new DescribedTables(catalog, (...note) => this.note(note))
  }

  /** Without a subject, the thread that asks databases notes the same. */
  private note(note: Parameters<Note>): void {
    if (note[2] === undefined) return
    this.end ??= this.open()
    this.end.port.postMessage({ note } satisfies ToRemote)
  }

  /** @throws {ProtocolError} */
  fetch(fetch: () => RemoteFetch, limits: RemoteLimits): void {
    const asking = fetch()
    for (let step = asking.next(); !step.done; ) step = asking.next(this.run(step.value, limits))
  }

  /** @returns the result of a change: see {@link RemoteChange} @throws {ProtocolError} */
  change(connection: string, task: RemoteChange, limits: RemoteLimits): unknown {
    const lost = () => RemoteErrors.OUTCOME_UNKNOWN(connection)
    return (this.ask({ ...limits, task }, lost) as { result: unknown }).result
  }

  private run(call: RemoteCall, limits: RemoteLimits): Cells[] {
    const lost = () => RemoteErrors.AWAY(call.connection).retryAfter(1)
    try {
      return (this.ask({ ...limits, call }, lost) as { rows: Cells[] }).rows
    } catch (error) {
      this.tables.failed(call.connection, error)
      throw error
    }
  }

  /** @param lost error when the thread ends before it answers */
  private ask(message: RemoteQuestion, lost: () => ProtocolError): FromRemote {
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
