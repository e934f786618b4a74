/** A mail server and a receiver of webhooks that print what they get: `npm run receivers`, beside `npm start`. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { verifyWebhook } from 'tesser'
import { startSmtpServer } from './smtp-server.js'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8').trim()

// The ports to which the server sends.
const [desk, webhooks] = JSON.parse(read('../tesser.config.json')).plugins
const mailPort = desk.options.smtp.port
const webhookPort = Number(new URL(webhooks.options.hooks[0].url).port)

const secret = read('crm_secret')
const receiver = createServer(async (request, response) => {
  const chunks = await request.toArray()
  try {
    console.log('webhook', verifyWebhook({ secret }, request.headers, Buffer.concat(chunks)), '\n')
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(401).end(error.message)
  }
})

try {
  const onMail = mail => console.log(`mail\n${mail}\n`)
  await startSmtpServer({ port: mailPort, password: read('smtp_password'), onMail })
  await once(receiver.listen(webhookPort, '127.0.0.1'), 'listening')
  console.log(`mails come to port ${mailPort}, webhooks to port ${webhookPort}`)
} catch (error) {
  console.error(`the receivers cannot start: ${error.message}; tesser.config.json has their ports`)
  process.exit(1)
}
