import { DataStore, ds, job, schedule } from 'tesser/classes'
import { refuse } from './errors.ts'
import { change, create } from './save.ts'

/** Time for which webhooks are remembered; senders repeat them for a few days at most. */
const KNOWN_MS = 14 * 86_400_000

interface Mail {
  from: string
  name?: string
  subject: string
  text: string
}

export class Gateway extends DataStore {
  /** Not exposed: only the route of the plugin calls this, after verifying the signature. */
  receive(id: string, event: { type?: string; data?: Partial<Mail> }) {
    const { from, name, subject, text } = event?.data ?? {}
    if (event?.type !== 'mail.received' || ![from, subject, text].every(value => typeof value === 'string'))
      refuse(400, 4305, 'a mail is { "type": "mail.received", "data": { "from", "subject", "text" } }')
    // The id and what it leads to are saved together: a mail that comes again changes nothing, one that has failed is taken then.
    return ds.transaction(() => {
      if (ds.IncomingMail.get(id)) return { result: 'known' }
      create(ds.IncomingMail.new({ ID: id, received: new Date() }))
      return take({ from: from!.toLowerCase(), name, subject: subject!, text: text! })
    })
  }

  @schedule('30 2 * * *', { timeZone: 'Europe/Rome' }) @job forgetMails() {
    ds.IncomingMail.query('received < :1', new Date(Date.now() - KNOWN_MS)).drop()
  }
}

/** Stores a mail as a comment if its subject has the number of a ticket of its sender, otherwise as a ticket. */
function take({ from, name, subject, text }: Mail) {
  const customer =
    ds.Customer.query('email === :1', from).first() ?? create(ds.Customer.new({ email: from, name: name ?? from }))
  const number = /\[#(\d{1,9})\]/.exec(subject)?.[1]
  const ticket = number && ds.Ticket.get(Number(number))
  if (ticket && ticket.customer?.ID === customer.ID) {
    create(ds.Comment.new({ text, author: from, ticket }))
    change(ticket, { status: 'open' })
    return { result: 'comment', ticket: ticket.number }
  }
  const opened = create(ds.Ticket.new({ subject, text, customer }))
  return { result: 'ticket', ticket: opened.number }
}
