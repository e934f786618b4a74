/** Plays the gateway for mails: node development/send-mail.js ada@example.com "Lost key" "where is it?" */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { signWebhook } from 'tesser'

const [from, subject, text] = process.argv.slice(2)
// The variable from which the server has its port, too.
const url = `http://127.0.0.1:${process.env.TESSER_PORT || 8080}/hooks/mail`
const body = JSON.stringify({ type: 'mail.received', data: { from, subject, text } })
const id = `msg_${randomUUID()}`
const timestamp = Math.floor(Date.now() / 1000)
const secret = readFileSync(new URL('mail_secret', import.meta.url), 'utf8').trim()
const headers = {
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signWebhook(secret, { id, timestamp, body }),
}
try {
  const answer = await fetch(url, { method: 'POST', headers, body })
  console.log(answer.status, await answer.text())
} catch (error) {
  const reason = error.cause?.message ?? error.message
  console.error(`${url} cannot be reached (${reason}): npm start serves it, with the same TESSER_PORT`)
  process.exitCode = 1
}
