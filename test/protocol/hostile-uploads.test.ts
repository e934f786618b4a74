import { connect } from 'node:net'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import t from 'tap'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestServer, transports } from '../support/servers/test-server.ts'
import { storedFiles } from '../support/engine/stored-files.ts'
import { until } from '../support/base/until.ts'

const picture = () => sharp({ create: { width: 60, height: 40, channels: 3, background: 'red' } })
const png = await picture().png().toBuffer()
const jpeg = await picture().jpeg().toBuffer()
const TINY_UPLOADS = process.env.TESSER_TEST_LONG ? 10_000 : 500
const CONNECTIONS = 100

/** A PNG of a few KB that unpacks to 30,000 × 30,000 pixels. */
function bomb(): Buffer {
  const side = 30_000
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(body))
    return Buffer.concat([length, body, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side)
  header.writeUInt32BE(side, 4)
  header.set([1, 0], 8)
  const pixels = deflateSync(Buffer.alloc(side * (1 + side / 8)), { level: 9 })
  const start = Buffer.from('89504e470d0a1a0a', 'hex')
  return Buffer.concat([start, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))])
}

/** Source: PNG specification, annex D. */
function crc32(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

const entities = Array.from({ length: 20 }, (_, i) => `<!ENTITY a${i + 1} "&a${i};&a${i};&a${i};&a${i};">`).join('')
const svg = (prologue: string, content: string): Buffer =>
  Buffer.from(`${prologue}<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">${content}</svg>`)

const put = async (server: TestServer, image: Uint8Array | string): Promise<number> =>
  (await server.send('PUT', '/Employee(1)/photo?$rawPict=true', image)).status

for (const transport of transports) {
  t.test(`hostile uploads on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })

    await t.test('an image that would fill the memory when it is unpacked is stored, and not unpacked', async t => {
      const image = bomb()
      t.equal(await put(server, image), 200)
      for (const format of ['jpeg', 'png&$width=10', 'gif']) {
        const { status, bytes } = await server.get(`/Employee(1)/photo?$imageformat=${format}`)
        t.equal(status, 200)
        if (!format.startsWith('png')) t.equal(bytes.length, 0, format)
      }
      t.ok((await server.get('/Employee(1)/photo?$imageformat=best')).bytes.equals(image))
    })

    await t.test('the content of an image decides what it is, whatever its name', async t => {
      for (const [image, label, found] of [
        [png, 'image/jpeg', 'image/png'],
        [jpeg, 'image/png', 'image/jpeg'],
        [svg('', '<rect/>'), 'image/gif', 'image/svg+xml'],
      ] as const) {
        t.equal((await server.send('PUT', '/Employee(1)/photo', image, { 'content-type': label })).status, 200)
        t.equal((await server.get('/Employee(1)/photo?$imageformat=best')).headers['content-type'], found)
      }
      for (const page of ['<!DOCTYPE html><svg></svg>', '<html><svg>', '%PDF-1.7', '#!/bin/sh']) {
        t.equal(await put(server, page), 415, page)
      }
    })

    await t.test('a truncated or damaged image is stored as it is, and no other image is made from it', async t => {
      for (const image of [png.subarray(0, 40), jpeg.subarray(0, 200), Buffer.concat([png.subarray(0, 60), jpeg])]) {
        t.equal(await put(server, image), 200)
        t.ok((await server.get('/Employee(1)/photo?$imageformat=best')).bytes.equals(image))
        t.equal((await server.get('/Employee(1)/photo?$imageformat=webp')).text, '')
      }
    })

    await t.test('an SVG neither runs scripts, nor reads files, nor grows without end', async t => {
      for (const image of [
        svg('', '<script>alert(1)</script><image href="file:///etc/passwd"/>'),
        svg('<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>', '<text>&x;</text>'),
        svg(`<!DOCTYPE svg [<!ENTITY a0 "a">${entities}]>`, '<text>&a20;</text>'),
      ]) {
        t.equal(await put(server, image), 200)
        const { headers, bytes } = await server.get('/Employee(1)/photo?$imageformat=best')
        t.ok(bytes.equals(image))
        t.match(headers['content-security-policy'], /sandbox/)
        const converted = await server.get('/Employee(1)/photo?$imageformat=png')
        t.equal(converted.status, 200)
        t.ok(converted.bytes.length < 1_000)
      }
    })

    await t.test(`${TINY_UPLOADS} tiny uploads at once are all kept or refused with the reason`, async t => {
      const bytes = (i: number): Buffer => Buffer.from(`upload ${i}`)
      const kept: [ID: string, i: number][] = []
      let refused = 0
      let next = 0
      const lane = async (): Promise<void> => {
        while (next < TINY_UPLOADS) {
          const i = next++
          const { status, json, headers } = await server.post('/$upload?$binary=true', bytes(i))
          if (status === 200) kept.push([json.ID, i])
          else if (status === 503 && headers['retry-after']) refused++
          else t.fail(`status ${status}`)
        }
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, lane))
      t.equal(kept.length + refused, TINY_UPLOADS)
      t.equal(new Set(kept.map(([ID]) => ID)).size, kept.length)
      for (const [ID, i] of kept.filter((_, n) => n % Math.ceil(kept.length / 50) === 0)) {
        const { __KEY, __STAMP } = (await server.get('/Company(1)')).json
        await server.post('/Company?$method=update', { __KEY, __STAMP, contract: { ID } })
        t.ok((await server.get('/Company(1)/contract?$binary=true')).bytes.equals(bytes(i)))
      }
    })
  })

  t.test(`an upload that stalls is ended with 408 and leaves no file, on ${transport}`, async t => {
    const folder = temporaryFolder(t)
    const files = (): string[] => storedFiles(join(folder, 'store'))
    const config = { server: { requestTimeoutMs: 1_000 } }
    const server = await startServer(t, company, { transport, folder, config })
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    const answered = new Promise<string>(resolve => socket.once('data', data => resolve(data.toString())))
    socket.on('error', () => {})
    socket.write('POST /rest/$upload?$binary=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000\r\n\r\n')
    socket.write(Buffer.alloc(500_000))
    t.match(await answered, /^HTTP\/1.1 408 /)
    socket.destroy()
    await until(() => files().length === 0)
    t.same(files(), [])
  })

  t.test(`an upload belongs to the session that made it, on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })
    const newCookie = async (): Promise<string> =>
      String((await server.get('/Company(1)')).headers['set-cookie']).split(';')[0]!
    const upload = async (headers: Record<string, string>) => server.post('/$upload?$binary=true', png, headers)
    const attach = async (ID: string, headers: Record<string, string>): Promise<[number, number | undefined]> => {
      const { __KEY, __STAMP } = (await server.get('/Company(1)')).json
      const answer = await server.post('/Company?$method=update', { __KEY, __STAMP, contract: { ID } }, headers)
      return [answer.status, answer.json.__ERROR?.[0].errCode]
    }
    const [mine, theirs] = [{ cookie: await newCookie() }, { cookie: await newCookie() }]

    await t.test('others cannot tell it from one that does not exist', async t => {
      const { ID } = (await upload(mine)).json
      t.same(await attach(ID, theirs), [422, 1826])
      t.same(await attach(ID, {}), [422, 1826])
      t.same(await attach(ID, { 'nosession-4d': 'true' }), [422, 1826])
      t.same(await attach(ID, mine), [200, undefined])
    })

    await t.test(
      'an upload sent without a session belongs to its new session, and to clients that keep none',
      async t => {
        const { json, headers } = await upload({})
        const itsCookie = { cookie: String(headers['set-cookie']).split(';')[0]! }
        t.same(await attach(json.ID, itsCookie), [200, undefined])
        t.same(await attach(json.ID, {}), [200, undefined])
        t.same(await attach(json.ID, theirs), [422, 1826])
      },
    )

    await t.test('clients that want no session can upload and attach', async t => {
      const without = { 'nosession-4d': 'true' }
      t.same(await attach((await upload(without)).json.ID, without), [200, undefined])
    })
  })
}
