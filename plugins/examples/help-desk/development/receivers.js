/** A mail server and a receiver of webhooks that print what they get: `npm run receivers`, beside `npm start`. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { verifyWebhook } from 'tesser'
import { startSmtpServer } from './smtp-server.js'

const secretOf = name => readFileSync(new URL(name, import.meta.url), 'utf8').trim()

await startSmtpServer({
  port: 2525,
  password: secretOf('smtp_password'),
  onMail: mail => console.log(`mail\n${mail}\n`),
})

const secret = secretOf('crm_secret')
createServer(async (request, response) => {
  const chunks = await request.toArray()
  try {
    console.log('webhook', verifyWebhook({ secret }, request.headers, Buffer.concat(chunks)), '\n')
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(401).end(error.message)
  }
}).listen(2526, '127.0.0.1')
console.log('mails come to port 2525, webhooks to port 2526')
