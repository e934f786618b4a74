import {
  DataClass,
  ds,
  Entity,
  entityOf,
  event,
  exposed,
  job,
  onHTTPGet,
  Session,
  schedule,
  selectionOf,
  Type,
} from 'tesser/classes'
import { invalid, isStaff, refuse } from './errors.ts'
import { hashedWords } from './hashed-words.ts'
import { change, create } from './save.ts'

const DAY_MS = 86_400_000
const WAITING_DAYS = 14

/** States that may follow each state. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  open: ['open', 'waiting', 'closed'],
  waiting: ['waiting', 'open', 'closed'],
  closed: ['closed', 'open'],
}

/** Minimum cosine at which a ticket is found: some word in common. */
const MIN_SCORE = 0.1

const SUBJECT = Type.String({ title: 'subject', maxLength: 200 })
const TEXT = Type.String({ title: 'text', maxLength: 20_000 })
const PRIORITIES = [Type.Literal('low'), Type.Literal('normal'), Type.Literal('high')]
const PRIORITY = Type.Optional(Type.Union(PRIORITIES, { title: 'priority' }))
const COUNT = Type.Optional(Type.Integer({ title: 'count', minimum: 1, maximum: 100 }))

export class Ticket extends DataClass('Ticket') {
  /** Customers see their own tickets. `===`, because in `=` the `@` of an address is a wildcard. */
  @event('restrict') own() {
    if (isStaff()) return
    return this.query('customer.email === :1', Session.userName)
  }

  @exposed({
    description: 'Opens a ticket of the customer who is logged in.',
    parameters: Type.Tuple([SUBJECT, TEXT, PRIORITY]),
    result: entityOf('Ticket'),
  })
  open(subject: string, text: string, priority = 'normal') {
    const customer = ds.Customer.query('email === :1', Session.userName).first()
    if (!customer) refuse(403, 4302, `${Session.userName} is not the address of a customer`)
    return create(this.new({ subject, text, priority, customer }))
  }

  @onHTTPGet({
    description: 'Tickets with similar words, the most similar first.',
    parameters: Type.Tuple([TEXT, COUNT]),
    result: selectionOf('Ticket'),
  })
  search(text: string, count = 10) {
    return this.query('embedding > :1', { vector: hashedWords(text), threshold: MIN_SCORE }).slice(0, count)
  }

  @onHTTPGet({ description: 'Numbers for managers.', parameters: Type.Tuple([]) })
  statistics() {
    const count = (status: string): number => this.query('status = :1', status).length
    const unfinished = this.query('status != closed')
    return {
      status: { open: count('open'), waiting: count('waiting'), closed: count('closed') },
      unassigned: unfinished.query('assignee = null').length,
      assignees: Object.fromEntries(
        unfinished.distinct('assignee').map(name => [name, unfinished.query('assignee === :1', name).length]),
      ),
    }
  }

  /** Sends one line of JSON for each ticket, as fast as the client reads. */
  @onHTTPGet({ description: 'All tickets, as a stream.', parameters: Type.Tuple([]) })
  *export() {
    for (const ticket of this.query('order by number')) {
      const { number, subject, status, priority, created, assignee, customer, comments } = ticket
      yield {
        number,
        subject,
        status,
        priority,
        created,
        assignee,
        customer: customer?.email,
        comments: comments.length,
      }
    }
  }

  /** Runs every night. A job has all rights, and sees all tickets. */
  @schedule('0 2 * * *', { timeZone: 'Europe/Rome' }) @job closeForgotten() {
    const limit = new Date(Date.now() - WAITING_DAYS * DAY_MS)
    for (const ticket of this.query('status = waiting and waitingSince < :1', limit))
      change(ticket, { status: 'closed' })
  }

  /** Not part of the save: a model may be slow or unavailable. */
  @job({ attempts: 5 }) embed(ticket: TicketEntity | null) {
    if (ticket) change(ticket, { embedding: hashedWords(`${ticket.subject} ${ticket.text}`) })
  }
}

export class TicketEntity extends Entity('Ticket') {
  @exposed({
    description:
      'Adds a comment; the ticket then waits for the customer, or is open again. Internal ones are for agents alone.',
    parameters: Type.Tuple([TEXT, Type.Optional(Type.Boolean({ title: 'internal' }))]),
    result: entityOf('Comment'),
  })
  reply(text: string, internal = false) {
    return ds.transaction(() => {
      const comment = create(ds.Comment.new({ text, internal, author: Session.userName, ticket: this }))
      const answered = this.status === 'closed' ? 'closed' : 'waiting'
      if (!internal) change(this, { status: isStaff() ? answered : 'open' })
      return comment
    })
  }

  @exposed({
    description: 'Gives the ticket to an agent, or to none.',
    parameters: Type.Tuple([Type.Union([Type.String(), Type.Null()], { title: 'userName' })]),
  })
  assign(userName: string | null) {
    change(this, { assignee: userName })
  }

  @exposed({ description: 'Closes the ticket.', parameters: Type.Tuple([]) })
  close() {
    change(this, { status: 'closed' })
  }

  @onHTTPGet({
    description: 'Other tickets with similar words, the most similar first.',
    parameters: Type.Tuple([]),
    result: selectionOf('Ticket'),
  })
  similar() {
    if (!this.embedding) return ds.Ticket.newSelection()
    return ds.Ticket.query('embedding > :1', { vector: this.embedding, threshold: MIN_SCORE }).minus(this)
  }

  @event('constructor') begin() {
    this.status = 'open'
    this.priority = 'normal'
    this.created = new Date()
  }

  @event('validateSave') check() {
    if (!this.subject?.trim()) return invalid('subject', 'a ticket needs a subject')
    if (!this.text?.trim()) return invalid('text', 'a ticket needs a text')
    const before = this.isNew() ? 'open' : (ds.Ticket.get(this.number)?.status ?? 'open')
    if (!this.isNew() && !NEXT[before]?.includes(this.status))
      return invalid('status', `a ticket that is ${before} cannot become ${this.status}`)
  }

  /** Jobs enqueued here are part of the save: they exist only if it succeeds. */
  @event('saving') prepare() {
    this.waitingSince = this.status === 'waiting' ? (this.waitingSince ?? new Date()) : null
    const touched = this.touchedAttributes()
    if (touched.includes('subject') || touched.includes('text')) ds.enqueue(ds.Ticket.embed, [this])
    // Imported tickets are not announced.
    if (this.isNew() && !Session.isServer()) ds.enqueue(ds.announce, [this], { priority: 5 })
  }
}

declare module 'tesser/classes' {
  interface Classes {
    Ticket: Ticket
    TicketEntity: TicketEntity
  }
}
