import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { SeenWebhooks, signWebhook, verifyWebhook, webhookSecretProblem } from '../../../kernel/webhook.ts'

const NOW = 1_800_000_000_000
const key = Buffer.from('the first of two secrets, as bytes')
const SECRET = `whsec_${key.toString('base64')}`
const OTHER = `whsec_${Buffer.from('the second of two secrets, as bytes').toString('base64')}`
const BODY = '{"type":"a.b","data":{"n":1}}'
const ID = 'msg_1'

const signed = (timestamp = NOW / 1000, secret = SECRET, body = BODY) => ({
  'webhook-id': ID,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signWebhook(secret, { id: ID, timestamp, body }),
})

t.test('signatures are those of the standard', t => {
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = signWebhook(SECRET, { id: ID, timestamp, body: BODY })
  t.equal(signature, `v1,${createHmac('sha256', key).update(`${ID}.${timestamp}.${BODY}`).digest('base64')}`)
  t.equal(signature, new Webhook(SECRET).sign(ID, new Date(timestamp * 1000), BODY))
  t.ok(new Webhook(SECRET).verify(BODY, signed(timestamp)))
  t.end()
})

interface Case {
  readonly name: string
  readonly headers: Parameters<typeof verifyWebhook>[1]
  readonly body?: string | Uint8Array
  readonly secret?: string | readonly string[]
  /** Status and message of the error. */
  readonly error?: readonly [number, RegExp]
}

const without = (name: string) => ({ ...signed(), [name]: undefined })
const cases: Case[] = [
  { name: 'a webhook as sent', headers: signed() },
  { name: 'its bytes', headers: signed(), body: Buffer.from(BODY) },
  { name: 'Headers of fetch', headers: new Headers(signed()) },
  { name: 'a function', headers: name => signed()[name as keyof ReturnType<typeof signed>] },
  {
    name: 'headers as lists',
    headers: { ...signed(), 'webhook-signature': ['v1,AAAA', signed()['webhook-signature']] },
  },
  { name: 'the first of two secrets', headers: signed(), secret: [SECRET, OTHER] },
  { name: 'the second of two secrets', headers: signed(), secret: [OTHER, SECRET] },
  {
    name: 'several signatures, of other versions too',
    headers: { ...signed(), 'webhook-signature': `v1a,xyz v1,AAAA ${signed()['webhook-signature']}` },
  },
  { name: '300 seconds old', headers: signed(NOW / 1000 - 300) },
  { name: '300 seconds ahead', headers: signed(NOW / 1000 + 300) },
  { name: 'no id', headers: without('webhook-id'), error: [400, /no header webhook-id; webhooks have/] },
  { name: 'no time', headers: without('webhook-timestamp'), error: [400, /no header webhook-timestamp/] },
  { name: 'no signature', headers: without('webhook-signature'), error: [400, /no header webhook-signature/] },
  {
    name: 'a long id',
    headers: { ...signed(), 'webhook-id': 'x'.repeat(257) },
    error: [400, /webhook-id is not valid/],
  },
  {
    name: 'a time that is none',
    headers: { ...signed(), 'webhook-timestamp': '1e9' },
    error: [400, /webhook-timestamp is not valid; it is the number of seconds/],
  },
  {
    name: 'a signature of another version alone',
    headers: { ...signed(), 'webhook-signature': 'v1a,AAAA' },
    error: [400, /webhook-signature is not valid/],
  },
  {
    name: 'another secret',
    headers: signed(NOW / 1000, OTHER),
    error: [401, /no signature of the webhook is that of/],
  },
  { name: 'another body', headers: signed(), body: `${BODY} `, error: [401, /no signature/] },
  { name: 'another id', headers: { ...signed(), 'webhook-id': 'msg_2' }, error: [401, /no signature/] },
  { name: 'another time', headers: { ...signed(), 'webhook-timestamp': '1800000001' }, error: [401, /no signature/] },
  {
    name: 'a part of the signature',
    headers: { ...signed(), 'webhook-signature': signed()['webhook-signature'].slice(0, 20) },
    error: [401, /no signature/],
  },
  {
    name: '301 seconds old',
    headers: signed(NOW / 1000 - 301),
    error: [401, /301 seconds behind the clock.*; 300 are accepted/],
  },
  { name: '301 seconds ahead', headers: signed(NOW / 1000 + 301), error: [401, /301 seconds ahead of the clock/] },
  { name: 'a body that is not JSON', headers: signed(NOW / 1000, SECRET, 'x'), body: 'x', error: [400, /not JSON/] },
]

t.test('webhooks are verified', t => {
  for (const { name, headers, body = BODY, secret = SECRET, error } of cases) {
    const verify = () => verifyWebhook({ secret, now: () => NOW }, headers, body)
    if (!error) t.same(verify(), JSON.parse(BODY), name)
    else t.throws(verify, { httpStatus: error[0], message: error[1] }, name)
  }
  t.throws(() => verifyWebhook({ secret: 'hunter2' }, signed(), BODY), { message: /^((?!hunter2).)*$/ })
  t.end()
})

t.test('secrets have the form of the standard', t => {
  for (const secret of [
    '',
    'whsec_',
    'whsec_!',
    `whsec_${'A'.repeat(30)}`,
    `whsec_${'A'.repeat(90)}`,
    SECRET.slice(6),
  ]) {
    t.match(webhookSecretProblem(secret), /is not whsec_ and 24 to 64 bytes as base64/, secret)
  }
  t.equal(webhookSecretProblem(SECRET), undefined)
  t.end()
})

t.test('ids are remembered up to a bound', t => {
  const seen = new SeenWebhooks(3)
  for (const id of ['a', 'b', 'c', 'd']) seen.add(id)
  t.same(
    ['a', 'b', 'c', 'd'].map(id => seen.has(id)),
    [false, true, true, true],
  )
  t.end()
})
