import type { Ended, Holding } from '../../../postgres/database/held-transaction.ts'
import type { Held, RemoteLink } from '../../../postgres/run/remote-link.ts'
import type { RemoteCall } from '../../../postgres/tables/remote-needed.ts'

/**
 * One run of the events of entities of a database, with the save or deletion after them, in a transaction of the database. The transaction
 * begins with the first read of the events. Without such a read, the save works as if there were no events.
 */
export class DatabaseRun {
  private isOpen = false
  private readonly later: (() => void)[] = []

  /** @param isWhole true if the first read or write of any kind begins the transaction */
  constructor(
    private readonly link: RemoteLink,
    private readonly holding: Holding,
    private readonly isWhole: boolean,
  ) {}

  get hasBegun(): boolean {
    return this.isOpen
  }

  /** Transaction for a read. @param isOfEvent true for reads of events */
  forRead({ connection, statement }: RemoteCall, isOfEvent: boolean): Held | undefined {
    const begins = (isOfEvent || this.isWhole) && !statement.isDescription
    return connection === this.holding.connection && (this.isOpen || begins) ? this.question() : undefined
  }

  /** Transaction for a save or a deletion. */
  forChange(): Held | undefined {
    return this.isOpen || this.isWhole ? this.question() : undefined
  }

  /** Runs `work` when the transaction has been committed: immediately, if it has not begun. */
  afterCommit(work: () => void): void {
    if (this.isOpen) this.later.push(work)
    else work()
  }

  /** @throws {ProtocolError} nothing is kept */
  end(keep: boolean): Ended | undefined {
    if (!this.isOpen) return undefined
    this.isOpen = false
    return this.link.finish(this.holding.connection, keep)
  }

  /** To be called when the transaction has been committed. */
  settle(): void {
    for (const work of this.later) work()
  }

  private question(): Held {
    const begins = !this.isOpen
    this.isOpen = true
    return { holding: this.holding, begins }
  }
}
