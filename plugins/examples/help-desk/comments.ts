import { DataClass, ds, Entity, event, Session } from 'tesser/classes'
import { invalid, isStaff } from './errors.ts'

export class Customer extends DataClass('Customer') {
  @event('restrict') own() {
    if (isStaff()) return
    return this.query('email === :1', Session.userName)
  }
}

export class Comment extends DataClass('Comment') {
  @event('restrict') own() {
    if (isStaff()) return
    return this.query('ticket.customer.email === :1 and internal = false', Session.userName)
  }
}

export class CommentEntity extends Entity('Comment') {
  @event('constructor') begin() {
    this.internal = false
    this.created = new Date()
    this.author = Session.userName
  }

  @event('validateSave') check() {
    if (!this.text?.trim()) return invalid('text', 'a comment needs a text')
    if (this.internal && !isStaff()) return invalid('internal', 'internal comments are those of agents')
  }

  @event('saving') prepare() {
    if (!this.isNew() || this.internal || Session.isServer()) return
    if (this.author !== this.ticket?.customer?.email) ds.enqueue(ds.notify, [this], { priority: 5 })
  }
}

export class Attachment extends DataClass('Attachment') {
  @event('restrict') own() {
    if (isStaff()) return
    return this.query('ticket.customer.email === :1', Session.userName)
  }
}

export class AttachmentEntity extends Entity('Attachment') {
  /** Events see all entities, so a ticket of another customer is refused here, with the same message as a ticket that does not exist. */
  @event('validateSave') check() {
    const { ticket } = this
    const isVisible = ticket && (isStaff() || ticket.customer?.email === Session.userName)
    if (!isVisible) return invalid('ticketNumber', `there is no ticket ${this.ticketNumber}`)
  }
}

declare module 'tesser/classes' {
  interface Classes {
    Customer: Customer
    Comment: Comment
    CommentEntity: CommentEntity
    Attachment: Attachment
    AttachmentEntity: AttachmentEntity
  }
}
