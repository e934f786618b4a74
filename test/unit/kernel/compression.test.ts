import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { codingFor, compressReply } from '../../../kernel/compression.ts'
import type { Reply } from '../../../kernel/reply.ts'
import { JSON_HEADERS } from '../../../kernel/transport/content-headers.ts'

for (const [header, coding] of [
  ['', undefined],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['*', 'br'],
  ['br;q=0, *', 'gzip'],
  ['identity, gzip;q=0.5', undefined],
  ['gzip;q=0', undefined],
  ['deflate, zstd', undefined],
  ['\u0000;;q=x', undefined],
] as const) {
  t.test(`Accept-Encoding: ${JSON.stringify(header)}`, async t => t.equal(codingFor(header), coding))
}

const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
const text = (size: number): string => JSON.stringify('é01234567'.repeat(size).slice(0, size - 3))
const reply = (body: Reply['body'], headers: Reply['headers'] = JSON_HEADERS, status = 200): Reply => ({
  status,
  headers,
  body,
})

t.test('texts are compressed from 2 KiB on, whatever their size and form', async t => {
  for (const coding of ['br', 'gzip'] as const) {
    for (const size of [2_100, 60_000, 3_000_000]) {
      for (const body of [text(size), new Uint8Array(Buffer.from(text(size)))]) {
        const sent = await compressReply(reply(body, { ...JSON_HEADERS, Vary: 'Origin' }, 404), coding)
        t.match(sent, { status: 404, headers: { 'Content-Encoding': coding, Vary: 'Origin, Accept-Encoding' } })
        t.ok((sent.body as Uint8Array).length < size / 10)
        t.equal(decoders[coding](sent.body as Uint8Array).toString(), text(size))
      }
    }
  }
})

t.test('bytes that are valid only in the current turn are read in that turn', async t => {
  const bytes = new Uint8Array(Buffer.from(text(300_000)))
  const sent = compressReply(reply(bytes), 'gzip')
  bytes.fill(0)
  t.equal(gunzipSync((await sent).body as Uint8Array).toString(), text(300_000))
})

t.test('a client that accepts no coding gets the plain text, with Vary for caches', async t => {
  const sent = await compressReply(reply(text(5_000)), undefined)
  t.strictSame(sent, { ...reply(text(5_000)), headers: { ...JSON_HEADERS, Vary: 'Accept-Encoding' } })
})

t.test('a compressed answer gets Vary, and is not compressed again', async t => {
  const given = reply(Buffer.alloc(10), { ...JSON_HEADERS, 'Content-Encoding': 'br' })
  t.strictSame(await compressReply(given, 'br'), { ...given, headers: { ...given.headers, Vary: 'Accept-Encoding' } })
})

t.test('everything else stays as it is', async t => {
  const large = text(5_000)
  for (const each of [
    reply(text(1_000)),
    reply(large, { 'Content-Type': 'image/svg+xml' }),
    reply(large, {}),
    reply(large, { ...JSON_HEADERS, ETag: '"1"' }),
    reply(large, { 'content-type': 'text/plain', 'cache-control': 'no-transform' }),
    reply(large, JSON_HEADERS, 206),
    reply({ size: 1e6, read: () => Buffer.alloc(1), close() {} }, { 'Content-Type': 'image/png' }),
  ]) {
    t.equal(await compressReply(each, 'br'), each)
  }
})
