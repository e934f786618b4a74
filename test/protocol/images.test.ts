import sharp from 'sharp'
import t, { type Test } from 'tap'
import { company } from '../support/fixtures/company.ts'
import { inTurn } from '../support/runner/rounds.ts'
import { startServer, type TestServer, transports } from '../support/servers/test-server.ts'

const picture = () => sharp({ create: { width: 300, height: 200, channels: 3, background: 'red' } })
const png = await picture().png().toBuffer()
const tiff = await picture().tiff().toBuffer()
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><script>alert(1)</script></svg>',
)
const contract = Buffer.from(new Uint8Array(700_000).map((_, i) => (i * 13 + (i >> 8)) & 0xff))

interface Case {
  spec: string
  name: string
  get: string
  headers?: Record<string, string>
  status?: number
  bytes?: Buffer
  /** Format and size of the image in the answer. */
  image?: { format: string; width?: number; height?: number }
  answers?: Record<string, string | RegExp | undefined>
}

/** Employee 1 has a PNG, 2 a TIFF, 3 an SVG with a script, 4 nothing; Company 1 has a contract of three pieces. */
const cases: Case[] = [
  { spec: '4.2', name: 'best is the stored PNG', get: '/Employee(1)/photo?$imageformat=best', bytes: png },
  {
    spec: 'P10.3',
    name: 'formats come in any case',
    get: '/Employee(1)/photo?$imageformat=PNG&$expand=photo',
    bytes: png,
  },
  ...['jpeg', 'gif', 'tiff', 'webp'].map(format => ({
    spec: 'P10.3',
    name: `a PNG can be had as ${format}`,
    get: `/Employee(1)/photo?$imageformat=${format}`,
    image: { format, width: 300, height: 200 },
    answers: { 'content-type': `image/${format}` },
  })),
  {
    spec: 'P10.3',
    name: 'best of what browsers do not show is a PNG',
    get: '/Employee(2)/photo?$imageformat=best',
    image: { format: 'png', width: 300 },
    answers: { 'content-type': 'image/png' },
  },
  {
    spec: 'P10.3',
    name: 'the stored format is sent as it is',
    get: '/Employee(2)/photo?$imageformat=TIF',
    bytes: tiff,
  },
  {
    spec: 'P10.3',
    name: 'a format that cannot be made is empty',
    get: '/Employee(1)/photo?$imageformat=pdf',
    bytes: Buffer.alloc(0),
  },
  {
    spec: 'P10.3',
    name: 'a missing image is empty',
    get: '/Employee(4)/photo?$imageformat=jpeg',
    bytes: Buffer.alloc(0),
  },
  {
    spec: 'D4',
    name: 'a thumbnail keeps its proportions',
    get: '/Employee(1)/photo?$imageformat=best&$width=60&$height=60',
    image: { format: 'png', width: 60, height: 40 },
  },
  {
    spec: 'D4',
    name: 'no image is enlarged',
    get: '/Employee(1)/photo?$imageformat=best&$width=4000',
    image: { format: 'png', width: 300, height: 200 },
  },
  ...['0', '-1', '4097', 'wide', '1e3', '9'.repeat(400)].map(width => ({
    spec: 'D4',
    name: `a thumbnail ${width.slice(0, 10)} pixels wide is refused`,
    get: `/Employee(1)/photo?$imageformat=best&$width=${width}`,
    status: 400,
  })),
  {
    spec: 'D4',
    name: 'an SVG is sent so that its scripts do not run',
    get: '/Employee(3)/photo?$imageformat=best',
    bytes: svg,
    answers: {
      'content-type': 'image/svg+xml',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /default-src 'none';.* sandbox$/,
    },
  },
  {
    spec: 'P10.3',
    name: 'an SVG can be had as a PNG',
    get: '/Employee(3)/photo?$imageformat=png',
    image: { format: 'png', width: 30, height: 20 },
  },
  {
    spec: 'P10.3',
    name: 'an answer for the version that the address names may be kept',
    get: '/Employee(1)/photo?$imageformat=best&$version={stamp}',
    answers: { 'cache-control': 'private, max-age=31536000, immutable' },
  },
  {
    spec: 'P10.3',
    name: 'an answer for another version must be revalidated',
    get: '/Employee(1)/photo?$imageformat=best&$version=999',
    bytes: png,
    answers: { 'cache-control': 'private, no-cache' },
  },
  {
    spec: 'P10.2',
    name: 'a blob is its bytes',
    get: '/Company(1)/contract?$binary=1&$expand=contract',
    bytes: contract,
  },
  {
    spec: 'P10.2',
    name: 'a blob is not a page',
    get: '/Company(1)/contract?$binary=true',
    answers: { 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff' },
  },
  { spec: 'P10.2', name: 'a missing blob is empty', get: '/Company(2)/contract?$binary=true', bytes: Buffer.alloc(0) },
  ...[
    { range: 'bytes=0-9', start: 0, end: 10 },
    { range: 'bytes=262140-262150', start: 262_140, end: 262_151 },
    { range: 'bytes=699990-', start: 699_990, end: 700_000 },
    { range: 'bytes=699990-999999999', start: 699_990, end: 700_000 },
    { range: 'bytes=-7', start: 699_993, end: 700_000 },
    { range: 'bytes=-9999999', start: 0, end: 700_000 },
  ].map(({ range, start, end }) => ({
    spec: 'RFC 9110, 14.2',
    name: `${range} is that part`,
    get: '/Company(1)/contract?$binary=true',
    headers: { range },
    status: 206,
    bytes: contract.subarray(start, end),
    answers: { 'content-range': `bytes ${start}-${end - 1}/700000`, 'content-length': String(end - start) },
  })),
  ...['bytes=700000-', 'bytes=-0', 'bytes=999999999999999-'].map(range => ({
    spec: 'RFC 9110, 15.5.17',
    name: `${range} has nothing in it`,
    get: '/Company(1)/contract?$binary=true',
    headers: { range },
    status: 416,
    bytes: Buffer.alloc(0),
    answers: { 'content-range': 'bytes */700000' },
  })),
  ...['bytes=9-1', 'bytes=-', 'bytes=1-2,4-5', 'lines=1-2', 'bytes=a-b', `bytes=${'1'.repeat(500)}-`].map(range => ({
    spec: 'RFC 9110, 14.2',
    name: `${range.slice(0, 30)} is not a range, so all is sent`,
    get: '/Company(1)/contract?$binary=true',
    headers: { range },
    bytes: contract,
  })),
  {
    spec: 'RFC 9110, 14.2',
    name: 'a converted image has parts too',
    get: '/Employee(1)/photo?$imageformat=jpeg',
    headers: { range: 'bytes=0-2' },
    status: 206,
    bytes: Buffer.of(0xff, 0xd8, 0xff),
  },
]

async function startWithImages(t: Test, transport: TestServer['transport']): Promise<TestServer> {
  const server = await startServer(t, company, { transport })
  for (const [key, image] of [png, tiff, svg].entries()) {
    t.equal((await server.send('PUT', `/Employee(${key + 1})/photo?$rawPict=true`, image)).status, 200)
  }
  t.equal((await server.send('PUT', '/Company(1)/contract', contract)).status, 200)
  for (const path of ['/Employee(4)/photo?$imageformat=best', '/Company(2)/contract?$binary=true']) {
    t.equal((await server.send('DELETE', path)).status, 200)
  }
  return server
}

for (const transport of inTurn(transports)) {
  t.test(`images and blobs on ${transport}`, async t => {
    const server = await startWithImages(t, transport)
    const stamp = (await server.get('/Employee(1)')).json.__STAMP

    for (const { spec, name, get, headers, status = 200, bytes, image, answers } of cases) {
      await t.test(`§${spec} ${name}`, async t => {
        const answer = await server.get(get.replace('{stamp}', stamp), headers)
        t.equal(answer.status, status, answer.text.slice(0, 300))
        if (status === 400) t.match(answer.json, { __ERROR: [{ message: /\$width/ }] })
        if (bytes) t.ok(answer.bytes.equals(bytes), `${answer.bytes.length} bytes`)
        if (image) t.match(await sharp(answer.bytes).metadata(), image)
        if (answers) t.match(answer.headers, answers)
      })
    }

    await t.test('§RFC 9110, 13 bytes that the client has are not sent again, until the entity changes', async t => {
      for (const path of [
        '/Employee(1)/photo?$imageformat=best',
        '/Employee(1)/photo?$imageformat=best&$width=10',
        '/Company(1)/contract?$binary=true',
      ]) {
        const { etag } = (await server.get(path)).headers
        t.match(etag, /^"[\w-]+"$/)
        for (const tags of [etag, `"other", W/${etag}`, '*'] as string[]) {
          const { status, bytes, headers } = await server.get(path, { 'if-none-match': tags })
          t.same([status, bytes.length, headers.etag], [304, 0, etag])
        }
        t.equal((await server.get(path, { 'if-none-match': '"other"' })).status, 200)
        t.equal((await server.get(path, { range: 'bytes=0-0', 'if-range': '"other"' })).status, 200)
        t.equal((await server.get(path, { range: 'bytes=0-0', 'if-range': etag as string })).status, 206)
        const [entity] = path.split('/').slice(1)
        const { __KEY, __STAMP } = (await server.get(`/${entity}`)).json
        await server.post(`/${entity!.split('(')[0]}?$method=update`, { __KEY, __STAMP, name: 'x', lastName: 'x' })
        await server.send('PUT', path, path.includes('photo') ? png : contract)
        t.equal((await server.get(path, { 'if-none-match': etag as string })).status, 200)
      }
    })

    await t.test('§RFC 9110, 9.3.2 HEAD says what GET would, without the bytes', async t => {
      for (const path of ['/Employee(1)/photo?$imageformat=jpeg', '/Company(1)/contract?$binary=true']) {
        const [got, head] = [await server.get(path), await server.send('HEAD', path, undefined, { range: 'bytes=0-1' })]
        t.equal(head.status, 200)
        t.equal(head.bytes.length, 0)
        for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges']) {
          t.equal(head.headers[name], got.headers[name], name)
        }
      }
    })

    await t.test('§3.3 without $imageformat or $binary the attribute is a link, which leads to its bytes', async t => {
      const { json } = await server.get('/Employee(1)/photo')
      const { uri, image } = json.photo.__deferred
      t.equal(image, true)
      t.match(uri, /^\/rest\/Employee\(1\)\/photo\?\$imageformat=best&\$version=\d+&\$expand=photo$/)
      t.same((await server.get(uri.slice('/rest'.length))).bytes, png)
      t.match((await server.get('/Company(1)/contract')).json.contract, { __deferred: { uri: /binary=true/ } })
    })

    await t.test('§4.6 filters and $compute know which entities have an image', async t => {
      const all = (await server.get('/Employee')).json.__COUNT
      const without = (await server.get('/Employee?$filter="photo = null"')).json.__COUNT
      t.equal((await server.get('/Employee?$filter="photo != null"')).json.__COUNT, all - without)
      t.equal((await server.get('/Employee/photo?$compute=count')).text, String(all - without))
    })
  })
}
