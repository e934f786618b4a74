import assert from 'node:assert/strict'
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
    webhooks.push(verifyWebhook({ secret: SECRET }, name => request.headers[name] ?? '', body))
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
        { ID: 1, text: 'Is it still burning?', author: 'kurt', ticket: 1 },
        { ID: 2, text: 'Again the same customer', author: 'kurt', internal: true, ticket: 1 },
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
    const { json } = await server.as('root').get('/rest/$jobs')
    return ['waiting', 'ready', 'running'].every(state => json.states?.[state] === 0) && json
  })

test('debug', async () => {
  console.log(JSON.stringify((await server.as('root').get('/rest/$jobs')).json))
  for (const user of [ADA, EVA, 'kurt', 'grace']) {
    for (const path of ['Ticket?$attributes=number,subject', 'Comment?$attributes=text', 'Customer?$attributes=email', 'Ticket(2)', 'Ticket(99)', 'Ticket/search?$params=["fire and smoke"]&$attributes=number', 'Ticket/statistics', 'Ticket/export', 'Ticket(1)/similar?$attributes=number'])
      console.log(user, path, (await server.as(user).get('/rest/' + path)).text)
  }
  console.log((await server.get('/rest/Ticket')).text)
  console.log((await server.as(ADA).post('/rest/Ticket/open', ['Help', 'my screen'])).text)
  console.log((await server.as(ADA).post('/rest/Ticket/open', ['  ', 'my screen'])).text)
  for (const [user, path, args] of [[ADA, 'Ticket(1)/reply', ['yes']], [ADA, 'Ticket(1)/reply', ['secret', true]], [ADA, 'Ticket(2)/reply', ['x']], [ADA, 'Ticket(99)/reply', ['x']],['kurt', 'Ticket(1)/reply', ['hmm', true]],['kurt', 'Ticket(1)/reply', ['use water']], ['kurt', 'Ticket(1)/assign', ['kurt']],[ADA, 'Ticket(1)/assign', ['kurt']], [ADA,'Ticket(1)/close',[]],
    ['kurt', 'Ticket?$method=update', {__KEY:'1',__STAMP:9,status:'waiting'}], ['kurt', 'Ticket?$method=update', {subject:'x',text:'y', customer: 99}], [ADA, 'Attachment?$method=update', {name:'x', ticket: 2, content: 5}], [ADA, 'Attachment?$method=update', {name:'x', ticket: 99}], [ADA, 'Attachment?$method=update', {name:'x', ticket: {__KEY:'2'}}],
  ])
    console.log(user, path, JSON.stringify(args), (await server.as(user).post('/rest/' + path, args)).text)
  await setTimeout(2000)
  console.log(JSON.stringify((await server.as('root').get('/rest/$jobs')).json))
  console.log(JSON.stringify((await server.as('root').get('/rest/$jobs/failed')).json))
  console.log(mails, webhooks)
})
