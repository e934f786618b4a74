import { DataStore, type EntityOf, job, request } from 'tesser/classes'

interface Options {
  smtp: { host: string; port: number; secure: boolean; user: string; password: string }
  address: string
  agents: string
}

let options: Options

export function configure(given: Options): void {
  options = given
}

/** Jobs that send mails: they run after the save that has enqueued them, and are repeated if the mail server fails. */
export class Mails extends DataStore {
  @job({ backoffSeconds: 1, concurrency: 2 }) async announce(ticket: EntityOf<'Ticket'> | null) {
    if (!ticket) return
    const { number, subject, text, customer } = ticket
    await send(options.agents, `New ticket #${number}: ${subject}`, `${customer?.name}:\n\n${text}`)
  }

  @job({ backoffSeconds: 1, concurrency: 2 }) async notify(comment: EntityOf<'Comment'> | null) {
    const customer = comment?.ticket?.customer
    // It has been deleted meanwhile.
    if (!comment || !customer) return
    await send(customer.email, `[#${comment.ticketNumber}] ${comment.ticket?.subject}`, comment.text)
  }
}

/** Sends a mail with the id of the job in its Message-ID: mail servers and readers recognise a repeated attempt as the same mail. */
async function send(to: string, subject: string, text: string): Promise<void> {
  const { smtp, address } = options
  const { createTransport } = await nodemailer()
  const transport = createTransport({
    ...{ host: smtp.host, port: smtp.port, secure: smtp.secure, auth: { user: smtp.user, pass: smtp.password } },
    ...{ connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 },
  })
  try {
    const messageId = `<${request.job!.id}@help-desk>`
    await transport.sendMail({ from: address, to, subject, text, messageId })
  } finally {
    transport.close()
  }
}

function nodemailer() {
  return import('nodemailer').catch(error => {
    throw new Error('mails need a package: npm install nodemailer', { cause: error })
  })
}

declare module 'tesser/classes' {
  interface Classes {
    DataStore: Mails
  }
}
