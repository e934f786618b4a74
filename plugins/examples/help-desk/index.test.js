import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { signWebhook, verifyWebhook } from 'tesser'
import { createTestServer } from 'tesser/testing'
import { startSmtpServer } from './development/smtp-server.js'

const ADA = 'ada@example.com'
/** With `@` as a wildcard, this address would match that of Ada. */
const EVA = 'a@example.com'
const PASSWORD = 'smtp-of-the-test'
const SECRET = `whsec_${Buffer.alloc(32, 'desk').toString('base64')}`
/** Keys of comments. */
const [SHOWN, INTERNAL, ABSENT] = ['1', '2', '3'].map(digit => digit.repeat(32))
const DAY_MS = 86_400_000

const mails = []
const webhooks = []
let smtp
let receiver
let server

const onMail = mail => mails.push(mail)

before(async () => {
  smtp = await startSmtpServer({ password: PASSWORD, onMail })
  receiver = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    webhooks.push(verifyWebhook({ secret: SECRET }, request.headers, body))
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const long = new Date(Date.now() - 15 * DAY_MS)
  const text = 'as before'
  server = await createTestServer({
    model: new URL('./model.json', import.meta.url),
    roles: new URL('./roles.json', import.meta.url),
    users: {
      [ADA]: { roles: ['customer'] },
      [EVA]: { roles: ['customer'] },
      kurt: { roles: ['agent'] },
      grace: { roles: ['manager'] },
      root: { privileges: ['WebAdmin'] },
    },
    plugins: [
      {
        plugin: new URL('./index.ts', import.meta.url),
        roles: ['agent'],
        options: {
          smtp: { host: '127.0.0.1', port: smtp.port, user: 'desk', password: PASSWORD },
          ...{ address: 'desk@example.com', agents: 'agents@example.com', mailSecrets: [SECRET] },
        },
      },
      {
        plugin: 'tesser/plugins/webhooks',
        options: {
          hooks: [
            {
              ...{ name: 'crm', url: `http://127.0.0.1:${receiver.address().port}/`, secret: SECRET },
              ...{ dataClass: 'Ticket', events: ['created', 'updated'], attributes: ['number', 'subject', 'status'] },
              allowPrivate: true,
            },
          ],
        },
      },
    ],
    data: {
      IncomingMail: [{ ID: 'old', received: long }],
      Customer: [
        { ID: 1, name: 'Ada', email: ADA },
        { ID: 2, name: 'Eva', email: EVA },
      ],
      Ticket: [
        { number: 1, subject: 'The printer is on fire', text: 'paper and smoke everywhere', customer: 1 },
        { number: 2, subject: 'Invoice', text: 'the invoice has the wrong address', customer: 2 },
        { number: 3, subject: 'Keyboard', text, customer: 1, status: 'waiting', waitingSince: long },
        { number: 4, subject: 'Mouse', text, customer: 1, status: 'waiting' },
      ],
      Comment: [
        { ID: SHOWN, text: 'Is it still burning?', author: 'kurt', ticket: 1 },
        { ID: INTERNAL, text: 'Again the same customer', author: 'kurt', internal: true, ticket: 1 },
      ],
    },
  })
})

after(async () => {
  await server?.close()
  await smtp.close()
  receiver.closeAllConnections()
  receiver.close()
})

/** Waits until there is a value. */
async function until(find) {
  for (;;) {
    const found = await find()
    if (found) return found
    await setTimeout(20)
  }
}

/** Waits until no job is left to do. */
const jobsDone = () =>
  until(async () => {
    const { waiting, ready, running } = (await server.as('root').get('/rest/$jobs')).json.counts
    return waiting + ready + running === 0
  })

const as = (user, path, body) =>
  body === undefined ? server.as(user).get(`/rest/${path}`) : server.as(user).post(`/rest/${path}`, body)

/** Values of one attribute of the entities in an answer. */
const valuesOf = ({ json }, name) => json.__ENTITIES.map(entity => entity[name])

/** A new ticket of Ada; its number. */
async function openTicket(subject) {
  const { status, text, json } = await as(ADA, 'Ticket/open', [subject, 'please help'])
  assert.equal(status, 200, text)
  await jobsDone()
  return json.number
}

const ticketOf = async number => (await as('kurt', `Ticket(${number})`)).json
const mailsAbout = text => mails.filter(mail => mail.includes(text))

/** Posts what a gateway for mails sends. */
function mailIn(id, data, { secret = SECRET, signed = JSON.stringify(data) } = {}) {
  const body = JSON.stringify(data)
  const timestamp = Math.floor(Date.now() / 1000)
  return server.post('/hooks/mail', body, {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signWebhook(secret, { id, timestamp, body: signed }),
  })
}

const received = data => ({ type: 'mail.received', data })

test('each role sees its tickets and comments', async () => {
  await jobsDone()
  const cases = [
    [ADA, 'Ticket?$filter="number<5"', 'number', [1, 3, 4]],
    [EVA, 'Ticket?$filter="number<5"', 'number', [2]],
    ['kurt', 'Ticket?$filter="number<5"', 'number', [1, 2, 3, 4]],
    ['grace', 'Ticket?$filter="number<5"', 'number', [1, 2, 3, 4]],
    [ADA, 'Comment?$filter="ticket.number=1"', 'text', ['Is it still burning?']],
    [EVA, 'Comment?$filter="ticket.number=1"', 'text', []],
    ['kurt', 'Comment?$filter="ticket.number=1"', 'text', ['Again the same customer', 'Is it still burning?']],
    [ADA, 'Customer', 'email', [ADA]],
    [EVA, 'Customer', 'email', [EVA]],
    [ADA, 'Ticket?$filter="comments.text=@again@"', 'number', []],
    ['kurt', 'Ticket?$filter="comments.text=@again@"', 'number', [1]],
  ]
  for (const [user, path, attribute, values] of cases)
    assert.deepEqual(valuesOf(await as(user, path), attribute).sort(), values, `${user} ${path}`)
  assert.equal((await server.get('/rest/Ticket')).status, 401)
})

test('what a customer may not see is like what does not exist', async () => {
  const cases = [
    ['Ticket(2)', 'Ticket(99)'],
    ['Ticket(2)/reply', 'Ticket(99)/reply', ['hello']],
    ['Ticket(2)/close', 'Ticket(99)/close', []],
    ['Ticket(2)/similar', 'Ticket(99)/similar'],
    [`Comment(${INTERNAL})`, `Comment(${ABSENT})`],
    ['Customer(2)', 'Customer(99)'],
    ['Ticket(2)/embedding', 'Ticket(2)/embeddings'],
    ['IncomingMail', 'OutgoingMail'],
  ]
  // Names and numbers are those of the question.
  const blank = text =>
    text.replace(/\b(?:2|99)\b|[0-9A-F]{32}|embeddings?|(?:Incoming|Outgoing)Mail|; did you mean.*\?/g, '')
  for (const [hidden, absent, body] of cases) {
    const [one, other] = [await as(ADA, hidden, body), await as(ADA, absent, body)]
    assert.deepEqual([one.status, blank(one.text)], [other.status, blank(other.text)])
    assert.notEqual(one.status, 200, hidden)
  }
  const attach = ticket => as(ADA, 'Attachment?$method=update', { name: 'a.txt', ticket })
  assert.equal(blank((await attach(2)).text), blank((await attach(99)).text))
  const { json } = await as(ADA, 'Ticket(1)/comments?$expand=comments')
  assert.equal(json.comments.__COUNT, 1)
})

test('each role may call its functions', async () => {
  const cases = [
    ['Ticket/statistics', undefined, { [ADA]: 401, kurt: 401, grace: 200 }],
    ['Ticket/export', undefined, { [ADA]: 401, kurt: 200, grace: 200 }],
    ['Ticket(4)/assign', ['kurt'], { [ADA]: 401, kurt: 200, grace: 200 }],
    ['Ticket/open', ['a', 'b'], { kurt: 403, grace: 403 }],
    ['Ticket?$method=update', { __KEY: '4', __STAMP: 1, priority: 'high' }, { [ADA]: 401 }],
    ['Comment?$method=update', { ticket: 4, text: 'a' }, { [ADA]: 401 }],
    ['Ticket(4)?$method=delete', '', { [ADA]: 401, kurt: 401 }],
  ]
  for (const [path, body, expected] of cases)
    for (const [user, status] of Object.entries(expected)) {
      const answer = await as(user, path, body)
      assert.equal(answer.status, status, `${user} ${path}: ${answer.text}`)
    }
  const { result } = (await as('grace', 'Ticket/statistics')).json
  assert.deepEqual(result.assignees, { kurt: 1 })
})

test('what is missing or not allowed is refused', async () => {
  const closed = await openTicket('Closed')
  await as(ADA, `Ticket(${closed})/close`, [])
  // An agent may add something, a customer opens it again.
  assert.equal((await as('kurt', `Ticket(${closed})/reply`, ['goodbye'])).status, 200)
  const { __STAMP } = await ticketOf(closed)
  const cases = [
    [ADA, 'Ticket/open', [' ', 'text'], /a ticket needs a subject/],
    [ADA, 'Ticket/open', ['subject', '\n'], /a ticket needs a text/],
    [ADA, 'Ticket/open', ['subject', 'text', 'urgent'], /"priority"/],
    [ADA, 'Ticket(1)/reply', [''], /a comment needs a text/],
    [ADA, 'Ticket(1)/reply', ['text', true], /internal comments are those of agents/],
    [
      'kurt',
      'Ticket?$method=update',
      { __KEY: `${closed}`, __STAMP, status: 'waiting' },
      /closed cannot become waiting/,
    ],
    ['kurt', 'Ticket?$method=update', { __KEY: `${closed}`, __STAMP, status: 'lost' }, /closed cannot become lost/],
  ]
  for (const [user, path, body, message] of cases) {
    const answer = await as(user, path, body)
    assert.ok(answer.status >= 400 || answer.json.__STATUS?.success === false, answer.text)
    assert.match(answer.json.__ERROR[0].message, message)
  }
  assert.equal((await ticketOf(closed)).status, 'closed')
  await as(ADA, `Ticket(${closed})/reply`, ['not yet'])
  assert.equal((await ticketOf(closed)).status, 'open')
})

test('agents get a mail about a new ticket, customers one for each reply', async () => {
  const number = await openTicket('No sound')
  assert.equal(mailsAbout(`New ticket #${number}: No sound`).length, 1)
  await as('kurt', `Ticket(${number})/reply`, ['for us alone', true])
  await as('kurt', `Ticket(${number})/reply`, ['Is it plugged in?'])
  assert.equal((await ticketOf(number)).status, 'waiting')
  await as(ADA, `Ticket(${number})/reply`, ['It is.'])
  assert.equal((await ticketOf(number)).status, 'open')
  await jobsDone()
  const sent = mailsAbout(`[#${number}] No sound`)
  assert.equal(sent.length, 1)
  assert.match(sent[0], /^To: ada@example\.com$/m)
  assert.match(sent[0], /Is it plugged in\?/)
  const { jobs } = (await as('root', '$jobs/done/ds.notify?$top=1')).json
  assert.match(sent[0], new RegExp(`^Message-ID: <${jobs[0].id}@help-desk>$`, 'm'))
})

test('a mail is sent when the mail server is back', async () => {
  const number = await openTicket('Late')
  const { port } = smtp
  await smtp.close()
  await as('kurt', `Ticket(${number})/reply`, ['better late than never'])
  const tried = async () => (await as('root', '$jobs/waiting/ds.notify')).json.jobs.some(({ attempts }) => attempts > 0)
  await until(tried)
  assert.equal(mailsAbout('better late').length, 0)
  smtp = await startSmtpServer({ port, password: PASSWORD, onMail })
  await jobsDone()
  assert.equal(mailsAbout('better late').length, 1)
})

test('signed mails become tickets and comments, each once', async () => {
  const mail = { from: 'New@example.com', name: 'New', subject: 'Lost key', text: 'where is it?' }
  const first = await mailIn('m1', received(mail))
  assert.deepEqual([first.status, first.json.result], [200, 'ticket'])
  const { ticket } = first.json
  assert.deepEqual((await mailIn('m1', received(mail))).json, { result: 'known' })
  assert.equal((await as('kurt', `Ticket?$filter="subject='Lost key'"`)).json.__COUNT, 1)

  await as('kurt', `Ticket(${ticket})/reply`, ['under the mat'])
  const answer = { ...mail, subject: `Re: [#${ticket}] Lost key`, text: 'found' }
  assert.deepEqual((await mailIn('m2', received(answer))).json, { result: 'comment', ticket })
  assert.equal((await ticketOf(ticket)).status, 'open')
  // The number of a ticket of another customer leads to a new one.
  assert.equal((await mailIn('m3', received({ ...answer, from: EVA }))).json.result, 'ticket')

  const refused = [
    [mailIn('m4', received(mail), { secret: `whsec_${Buffer.alloc(32, 'x').toString('base64')}` }), 401],
    [mailIn('m4', received(mail), { signed: '{}' }), 401],
    [server.post('/hooks/mail', received(mail)), 400],
    [mailIn('m4', { type: 'mail.bounced' }), 400],
    [mailIn('m4', received({ ...mail, subject: '' })), 400],
  ]
  for (const [sent, status] of refused) assert.equal((await sent).status, status)
  // What was refused as a whole can be sent again.
  assert.equal((await mailIn('m4', received(mail))).json.result, 'ticket')
  await jobsDone()
})

test('another server gets signed webhooks about tickets', async () => {
  const number = await openTicket('Webhook')
  await as(ADA, `Ticket(${number})/close`, [])
  const about = () => webhooks.filter(({ data }) => data.number === number)
  await until(() => about().some(({ data }) => data.status === 'closed'))
  assert.equal(about()[0].type, 'Ticket.created')
  assert.deepEqual(
    Object.keys(about()[0].data).filter(name => !name.startsWith('__')),
    ['number', 'subject', 'status'],
  )
})

/** Runs a job of the night now. */
async function runAtOnce(name) {
  const id = randomUUID().replaceAll('-', '')
  await server.engine.jobs.enqueue({ id, name, args: '[]', priority: 0 })
  await until(async () => (await as('root', `$jobs/${id}`)).json.state === 'done')
}

test('tickets that have waited for two weeks are closed at night', async () => {
  await runAtOnce('Ticket.closeForgotten')
  assert.equal((await ticketOf(3)).status, 'closed')
  assert.equal((await ticketOf(4)).status, 'waiting')
})

test('ids of mails are forgotten after two weeks', async () => {
  const mail = received({ from: ADA, subject: 'Once more', text: 'hello' })
  assert.equal((await mailIn('old', mail)).json.result, 'known')
  await runAtOnce('ds.forgetMails')
  assert.equal((await mailIn('old', mail)).json.result, 'ticket')
  await jobsDone()
})

test('search finds similar tickets, of those that the user sees', async () => {
  const number = await openTicket('Smoke alarm')
  const search = async user => valuesOf(await as(user, 'Ticket/search?$params=["paper and smoke",1]'), 'number')
  assert.deepEqual(await search('kurt'), [1])
  assert.deepEqual(await search(ADA), [1])
  assert.deepEqual(await search(EVA), [])
  const similar = valuesOf(await as(ADA, `Ticket(${number})/similar`), 'number')
  assert.ok(similar.includes(1) && !similar.includes(number), String(similar))
})

test('the export is a line for each ticket', async () => {
  const { headers, text } = await as('kurt', 'Ticket/export')
  assert.match(headers.get('content-type'), /^application\/x-ndjson/)
  const lines = text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const { json } = await as('kurt', 'Ticket?$top=1')
  assert.equal(lines.length, json.__COUNT)
  assert.deepEqual([lines[0].number, lines[0].customer, lines[0].comments], [1, ADA, 2])
})

test('customers attach files to their tickets', async () => {
  const upload = await server.as(ADA).post('/rest/$upload?$binary=true', new TextEncoder().encode('a file'))
  const saved = await as(ADA, 'Attachment?$method=update', { name: 'a.txt', ticket: 1, content: upload.json })
  assert.equal(saved.status, 200, saved.text)
  const path = `Attachment(${saved.json.ID})/content?$binary=true`
  assert.equal((await as(ADA, path)).text, 'a file')
  assert.equal((await as('kurt', path)).text, 'a file')
  assert.equal((await as(EVA, path)).status, 404)
})

test('managers delete tickets with their comments', async () => {
  const number = await openTicket('Spam')
  const { json } = await as('kurt', `Ticket(${number})/reply`, ['is this spam?'])
  assert.equal((await as('grace', `Ticket(${number})?$method=delete`, '')).status, 200)
  assert.equal((await as('grace', `Comment(${json.ID})`)).status, 404)
})

test('the page is served, and may run its own scripts alone', async () => {
  const { status, text, headers } = await server.get('/desk/')
  assert.equal(status, 200)
  assert.match(text, /<script type="module" src="\.\/desk\.js">/)
  assert.match(headers.get('content-security-policy'), /script-src 'self'/)
  for (const file of ['desk.js', 'desk.css']) assert.equal((await server.get(`/desk/${file}`)).status, 200)
})
