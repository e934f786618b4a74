import { type ErrorData, ProtocolError } from '../../base/errors.ts'
import type { Catalog } from '../../catalog/dataclass.ts'
import type { Note } from '../../data/store-options.ts'
import type { LinkEnd } from '../../write/contract/link-messages.ts'
import { WaitingLink } from '../../write/client/waiting-link.ts'
import { RemoteErrors, SILENT } from '../../data/remote-errors.ts'
import type { StatementLimits } from '../database/database.ts'
import { DescribedTables } from '../tables/described-tables.ts'
import type { Ended, Holding } from '../database/held-transaction.ts'
import type { RemoteCall, RemoteFetch } from '../tables/remote-needed.ts'
import type { RemoteChange } from '../writes/remote-writer.ts'
import type { Cells } from '../sql/statement.ts'

/** Limits of a question. */
export type RemoteLimits = Omit<StatementLimits, 'signal'>

/** A question in the transaction that its thread holds open. */
export interface Held {
  readonly holding: Holding
  /** True if the transaction begins with this question. */
  readonly begins: boolean
}

/** Questions to the thread that asks databases, which answers each. */
export type RemoteQuestion =
  | (RemoteLimits & { readonly transaction?: Held | undefined } & (
        | { readonly call: RemoteCall }
        | { readonly task: RemoteChange }
      ))
  /** Ends the transaction that is open. */
  | { readonly keep: boolean; readonly connection: string }

/** Messages to the thread that asks databases. Handled in `engine/postgres/run/remote-end.ts`. */
export type ToRemote = RemoteQuestion | { readonly note: Parameters<Note> }

/** Answers, in the order of the questions: a thread waits for each. */
export type FromRemote =
  | { readonly rows: Cells[] }
  | { readonly result: unknown }
  | { readonly outcome: Ended }
  | { readonly error: ErrorData }
  | { readonly fault: string }

/** Asks databases from a function thread, which waits for the answers, because plugin code is synchronous. */
export class RemoteLink {
  private readonly link: WaitingLink<ToRemote, FromRemote>
  /** Tables of this thread. */
  readonly tables: DescribedTables

  /** @param connect passes the other end to the thread that asks databases; transfers its port */
  constructor(connect: (end: LinkEnd) => void, catalog: Catalog) {
    this.link = new WaitingLink(connect)
    this.tables = new DescribedTables(catalog, (...note) => this.note(note))
  }

  /** Passes on a note with a subject; the thread that asks databases logs notes without a subject itself. */
  private note(note: Parameters<Note>): void {
    if (note[2] === undefined) return
    this.link.send({ note })
  }

  /** @param heldFor transaction in which a call runs @throws {ProtocolError} */
  fetch(fetch: () => RemoteFetch, limits: RemoteLimits, heldFor: (call: RemoteCall) => Held | undefined): void {
    const asking = fetch()
    for (let step = asking.next(); !step.done; ) {
      step = asking.next(this.run(step.value, limits, heldFor(step.value)))
    }
  }

  /** @returns the result of a change: see {@link RemoteChange} @throws {ProtocolError} */
  change(connection: string, task: RemoteChange, limits: RemoteLimits, transaction: Held | undefined): unknown {
    // Changes in an unfinished transaction are rolled back.
    const describeLoss = () => (transaction ? away(connection) : RemoteErrors.OUTCOME_UNKNOWN(connection))
    return (this.ask({ ...limits, task, transaction }, describeLoss) as { result: unknown }).result
  }

  /** Ends the transaction that is open. @throws {ProtocolError} */
  finish(connection: string, keep: boolean): Ended {
    const describeLoss = () => (keep ? RemoteErrors.OUTCOME_UNKNOWN(connection) : away(connection))
    return (this.ask({ connection, keep }, describeLoss) as { outcome: Ended }).outcome
  }

  private run(call: RemoteCall, limits: RemoteLimits, transaction: Held | undefined): Cells[] {
    try {
      return (this.ask({ ...limits, call, transaction }, () => away(call.connection)) as { rows: Cells[] }).rows
    } catch (error) {
      this.tables.handleFailure(call.connection, error)
      throw error
    }
  }

  private ask(message: RemoteQuestion, describeLoss: () => ProtocolError): FromRemote {
    return checkAnswer(this.link.ask(message, describeLoss))
  }
}

const away = (connection: string): ProtocolError => RemoteErrors.AWAY(connection, SILENT).retryAfter(1)

function checkAnswer(message: FromRemote): FromRemote {
  if ('error' in message) throw new ProtocolError(message.error)
  if ('fault' in message) throw new Error(message.fault)
  return message
}
