import { DataStore, ds, Entity, event, exposed, job } from 'tesser/classes'

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
type Loose = any

const refused = (message: string) => ({ errCode: 1, message, seriousError: true })

function failsToRead(): boolean {
  try {
    ds.Broken!.get(1)
    return false
  } catch {
    return true
  }
}

export class LoanEntity extends Entity('Loan') {
  /** A copy has at most one open loan, and members who owe fees cannot borrow. */
  @event('validateSave') isFree() {
    const { ID, copyID, open, reader } = this as Loose
    if (!open) return undefined
    if (reader === 'Broken' && !failsToRead()) return refused('it was read')
    const others = ds.Loan!.query('copyID = :1 and open = true and ID != :2', copyID, ID ?? 0)
    if (others.length > 0) return refused('it is lent')
    if (reader === 'Loop') for (;;);
    return ds.Fee!.query('reader = :1', reader ?? '').sum('amount') > 0 ? refused('there are fees') : undefined
  }
  @event('saving') welcome() {
    if ((this as Loose).reader === 'Ada') ds.enqueue((ds as unknown as Store).greet, ['Ada'])
  }
  /** One loan of each copy stays. */
  @event('dropping') isLast() {
    return (this as Loose).copy.loans.length <= 1 ? refused('it is the last one') : undefined
  }
}

/** Tickets have numbers without gaps. */
export class TicketEntity extends Entity('Ticket') {
  @event('saving') count() {
    const self = this as Loose
    if (self.isNew()) self.number = ds.Ticket!.all().length + 1
  }
}

export class Store extends DataStore {
  @exposed lend(copyID: number) {
    return ds.Loan!.new({ copyID, open: true }).save().success
  }
  @exposed lendAll(copies: number[]) {
    return ds.Loan!.fromCollection(copies.map(copyID => ({ copyID, open: true }))).length
  }
  @exposed returnAll(copyID: number) {
    return ds.Loan!.query('copyID = :1', copyID).drop().length
  }
  @job greet(name: string) {
    ds.Greeting!.new({ name }).save()
  }
}
