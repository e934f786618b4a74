/** Plays the gateway for mails: node development/send-mail.js ada@example.com "Lost key" "where is it?" */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { signWebhook } from 'tesser'

const [from, subject, text] = process.argv.slice(2)
const body = JSON.stringify({ type: 'mail.received', data: { from, subject, text } })
const id = `msg_${randomUUID()}`
const timestamp = Math.floor(Date.now() / 1000)
const secret = readFileSync(new URL('mail_secret', import.meta.url), 'utf8').trim()
const headers = {
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signWebhook(secret, { id, timestamp, body }),
}
const answer = await fetch('http://127.0.0.1:8080/hooks/mail', { method: 'POST', headers, body })
console.log(answer.status, await answer.text())
