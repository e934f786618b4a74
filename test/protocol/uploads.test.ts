import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { BinaryFiles } from '../../engine/files/binary-files.ts'
import { company } from '../support/fixtures/company.ts'
import { hookedPlugin } from '../support/plugins/test-plugins.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer, type TestAnswer, type TestServer, transports } from '../support/servers/test-server.ts'
import { storedFiles } from '../support/engine/stored-files.ts'
import { until } from '../support/base/until.ts'

const png = await sharp({ create: { width: 30, height: 20, channels: 3, background: 'red' } })
  .png()
  .toBuffer()
const large = Buffer.from(new Uint8Array(3_000_000).map((_, i) => (i * 7 + (i >> 9)) & 0xff))
const PNG_TYPE = { 'content-type': 'image/png' }
const errorCodes = (json: { __ERROR?: { errCode: number }[] }) => json.__ERROR?.map(({ errCode }) => errCode)

const upload = async (server: TestServer, body: Uint8Array, query = '$binary=true', headers = {}) =>
  (await server.post(`/$upload?${query}`, body, headers)).json.ID as string

/** Attaches an upload to the photo or the contract of an entity in its current version. */
async function attach(server: TestServer, dataClass: string, attribute: string, ID: string | null) {
  const { __STAMP } = (await server.get(`/${dataClass}(1)`)).json
  const value = ID === null ? null : { ID }
  return server.post(`/${dataClass}?$method=update`, { __KEY: '1', __STAMP, [attribute]: value })
}

interface Folder {
  folder: string
  files(): string[]
}
function folderOf(t: Test): Folder {
  const folder = temporaryFolder(t)
  return { folder, files: () => storedFiles(join(folder, 'store')) }
}

for (const transport of transports) {
  t.test(`uploads on ${transport}`, async t => {
    const server = await startServer(t, company, { transport })

    await t.test('§4.8 an upload is answered with 32 upper-case hexadecimal digits', async t => {
      for (const [query, body, headers] of [
        ['$rawPict=true', png, PNG_TYPE],
        ['$rawPict=image/png', png, {}],
        ['$rawPict=true', png, { 'content-type': 'application/octet-stream' }],
        ['$binary=true', large, { 'content-type': 'application/octet-stream' }],
        ['$binary=1&$timeout=5', Buffer.from('x'), {}],
      ] as const) {
        const { status, json } = await server.post(`/$upload?${query}`, body, headers)
        t.equal(status, 200)
        t.same(Object.keys(json), ['ID'])
        t.match(json.ID, /^[0-9A-F]{32}$/)
      }
    })

    await t.test('a body with a content coding is refused, wherever it is sent', async t => {
      const gzip = { 'content-encoding': 'gzip' }
      for (const [method, path] of [
        ['POST', '/$upload?$binary=true'],
        ['PUT', '/Company(1)/contract'],
        ['POST', '/Company?$method=update'],
        ['POST', '/Company/$query'],
        ['POST', '/$directory/login'],
      ] as const) {
        const { status, json } = await server.send(method, path, large, gzip)
        t.equal(status, 415, path)
        t.match(json.__ERROR, [
          { errCode: 1806, message: /Content-Encoding "gzip", which this server does not decode/ },
        ])
      }
      t.equal((await server.post('/$upload?$binary=true', 'x', { 'content-encoding': 'Identity' })).status, 200)
    })

    await t.test('§P10.1 an invalid upload is refused with the reason', async t => {
      for (const [query, body, headers, status, code] of [
        ['$rawPict=true', '', PNG_TYPE, 400, 1806],
        ['$binary=true', '', {}, 400, 1806],
        ['', png, {}, 400, 1813],
        ['$rawPict=false', png, {}, 400, 1813],
        ['$rawPict=true', png, { 'content-type': 'text/html' }, 415, 1824],
        ['$rawPict=video/mp4', png, PNG_TYPE, 415, 1824],
        ['$rawPict=true', '<html>', PNG_TYPE, 415, 1824],
        ['$rawPict=true', large, PNG_TYPE, 415, 1824],
        ['$binary=true', 'x', { 'content-type': 'multipart/mixed; boundary=x' }, 415, 1806],
        ['$binary=true', 'x', { 'content-type': 'multipart/form-data' }, 400, 1806],
        ['$binary=true', 'x', { 'content-type': 'multipart/form-data; boundary=x' }, 400, 1806],
        ['$binary=true', '--x\r\n\r\nx', { 'content-type': 'multipart/form-data; boundary=x' }, 400, 1806],
        ['$binary=true', '--x--\r\n', { 'content-type': 'multipart/form-data; boundary=x' }, 400, 1806],
        ['$binary=true&$timeout=0', 'x', {}, 400, 1806],
        ['$binary=true&$timeout=soon', 'x', {}, 400, 1806],
      ] as const) {
        const answer = await server.post(`/$upload?${query}`, body, headers)
        t.same([answer.status, errorCodes(answer.json)], [status, [code]], `${query} ${answer.text}`)
      }
      t.equal((await server.get('/$upload?$binary=true')).status, 405)
    })

    await t.test('the file is taken from a form of a browser', async t => {
      const file = (bytes: Uint8Array, type: string, name = 'größe.bin') => new File([bytes], name, { type })
      const form = (...parts: readonly (readonly [string, string | File])[]) => {
        const data = new FormData()
        for (const [name, value] of parts) data.append(name, value as File)
        return data
      }
      const fields = (count: number) => Array.from({ length: count }, (_, i) => [`field${i}`, 'x'] as const)
      const send = async (query: string, body: FormData) => {
        const response = await fetch(`${server.url}/rest/$upload?${query}`, { method: 'POST', body })
        return { status: response.status, json: (await response.json()) as TestAnswer['json'] }
      }
      const sent = await send(
        '$binary=true',
        form(['note', 'of the contract'], ['file', file(large, '')], ['more', 'x']),
      )
      const { json } = await attach(server, 'Company', 'contract', sent.json.ID)
      t.same((await server.get(json.contract.__deferred.uri.replace('/rest', ''))).bytes, large)
      t.equal((await send('$rawPict=true', form(['photo', file(png, 'image/png')]))).status, 200)
      const put = await fetch(`${server.url}/rest/Employee(1)/photo?$rawPict=true`, {
        method: 'PUT',
        body: form(['photo', file(png, 'image/png')]),
      })
      t.same([put.status, await put.json()], [200, { ok: true }])
      for (const [query, body, status, message] of [
        ['$rawPict=true', form(['photo', file(png, 'text/html')]), 415, /text\/html is not a supported image type/],
        ['$rawPict=true', form(['photo', file(Buffer.from('<html>'), 'image/png')]), 415, /not a supported image type/],
        ['$binary=true', form(['a', file(png, '')], ['b', file(png, '')]), 400, /the form has several files/],
        ['$binary=true', form(['a', 'text alone']), 400, /the form has no file/],
        ['$binary=true', form(['a', file(new Uint8Array(), '')]), 400, /is empty/],
        ['$binary=true', form(['a', 'x'.repeat(100_000)], ['b', file(png, '')]), 200, undefined],
        ['$binary=true', form(...fields(100), ['b', file(png, '')]), 200, undefined],
        ['$binary=true', form(...fields(101), ['b', file(png, '')]), 400, /more than 101 parts/],
        ['$binary=true', form(...fields(20_000)), 400, /more than 101 parts/],
      ] as const) {
        const answer = await send(query, body)
        t.equal(answer.status, status)
        if (message) t.match(answer.json.__ERROR[0].message, message)
      }
    })

    await t.test('§2.9 an upload becomes the value of an image, which is read as it was sent', async t => {
      const { status, json } = await attach(
        server,
        'Employee',
        'photo',
        await upload(server, png, '$rawPict=true', PNG_TYPE),
      )
      t.equal(status, 200)
      t.same(json.photo.__deferred.image, true)
      const { bytes, headers } = await server.get(json.photo.__deferred.uri.replace('/rest', ''))
      t.same(bytes, png)
      t.equal(headers['content-type'], 'image/png')
    })

    await t.test('§2.9 a large upload becomes the value of a blob', async t => {
      t.equal((await attach(server, 'Company', 'contract', await upload(server, large))).status, 200)
      const { bytes, headers } = await server.get('/Company(1)/contract?$binary=true&$expand=contract')
      t.ok(bytes.equals(large))
      t.equal(headers['content-type'], 'application/octet-stream')
    })

    await t.test('§P10.1 an upload can be attached several times, also to the other type', async t => {
      const ID = await upload(server, png, '$binary=true')
      t.equal((await attach(server, 'Employee', 'photo', ID)).status, 200)
      t.equal((await attach(server, 'Company', 'contract', ID.toLowerCase())).status, 200)
      t.same((await server.get('/Company(1)/contract?$binary=true')).bytes, png)
    })

    await t.test('§P5.9 an unknown upload is 1825 or 1826, and nothing of the entity is saved', async t => {
      const before = (await server.get('/Employee(1)')).text
      for (const ID of ['0'.repeat(32), '../../x', '', 7, null, {}]) {
        const { __STAMP } = (await server.get('/Employee(1)')).json
        const body = { __KEY: '1', __STAMP, lastName: 'Changed', photo: { ID } }
        const answer = await server.post('/Employee?$method=update', body)
        t.same([answer.status, errorCodes(answer.json)], [422, [1825, 1517]], `${ID}`)
      }
      t.equal((await server.get('/Employee(1)')).text, before)
      t.same(errorCodes((await attach(server, 'Company', 'contract', 'x')).json), [1826, 1517])
    })

    await t.test('§P5.9 a file that is not an image cannot become one', async t => {
      const answer = await attach(server, 'Employee', 'photo', await upload(server, large))
      t.same([answer.status, errorCodes(answer.json)], [422, [1824, 1517]])
    })

    await t.test('§3.2 null removes it, and filters see that', async t => {
      await attach(server, 'Employee', 'photo', await upload(server, png))
      const without = (await server.get('/Employee?$filter="photo = null"')).json.__COUNT
      t.equal((await attach(server, 'Employee', 'photo', null)).json.photo, null)
      t.equal((await server.get('/Employee?$filter="photo = null"')).json.__COUNT, without + 1)
      t.equal((await server.get('/Employee(1)/photo?$imageformat=best')).text, '')
    })

    await t.test('§P5.7 an attribute is written, replaced and cleared directly', async t => {
      const ok = { status: 200, json: { ok: true } }
      t.match(await server.send('PUT', '/Employee(1)/photo?$rawPict=image/png', png), ok)
      t.same((await server.get('/Employee(1)/photo?$imageformat=best')).bytes, png)
      for (const body of [large, Buffer.from('short'), large]) {
        t.match(await server.post('/Company(1)/contract', body), ok)
        t.ok((await server.get('/Company(1)/contract?$binary=true')).bytes.equals(body))
      }
      t.match(await server.send('DELETE', '/Company(1)/contract?$binary=true'), ok)
      t.equal((await server.get('/Company(1)')).json.contract, null)
      t.match(await server.send('DELETE', '/Employee(1)/photo?$imageformat=best'), ok)
      t.equal((await server.get('/Employee(1)')).json.photo, null)
    })

    await t.test('§P5.7 an attribute that cannot be written directly is refused', async t => {
      for (const [verb, path, body, status, code] of [
        ['PUT', '/Employee(999)/photo?$rawPict=true', png, 404, 1543],
        ['PUT', '/Employee(1)/photo', 'no picture', 415, 1824],
        ['PUT', '/Company(1)/contract', '', 400, 1806],
        ['PUT', '/Employee(1)/lastName', 'x', 400, 1813],
        ['PUT', '/Employee/photo', png, 400, 1813],
        ['DELETE', '/Employee(1)/photo', undefined, 400, 1813],
      ] as const) {
        const answer = await server.send(verb, path, body)
        t.same([answer.status, errorCodes(answer.json)?.[0]], [status, code], `${verb} ${path} ${answer.text}`)
      }
    })
  })

  t.test(`uploads leave nothing behind on ${transport}`, async t => {
    const { folder, files } = folderOf(t)
    let time = Date.UTC(2026, 0, 1)
    const limits = { maxBytes: 4_000_000, maxConcurrent: 3, maxPendingBytes: 20_000_000 }
    const options = { transport, folder, now: () => time, config: { upload: limits } }
    const server = await startServer(t, company, options)

    await t.test('§8 an upload expires after 120 seconds or its $timeout', async t => {
      const [short, usual, long] = [
        await upload(server, large, '$binary=true&$timeout=10'),
        await upload(server, large),
        await upload(server, large, '$binary=true&$timeout=500'),
      ]
      t.equal(files().length, 3)
      const isValid = async (ID: string) => (await attach(server, 'Company', 'contract', ID)).status === 200
      time += 9_999
      t.ok(await isValid(short))
      time += 1
      t.notOk(await isValid(short))
      t.ok(await isValid(usual))
      time += 110_000
      t.notOk(await isValid(usual))
      t.ok(await isValid(long))
      await server.engine.uploads.sweep()
      // The file of `long`, which is attached too.
      await onlyLeft(files, 1)
      t.equal(files().length, 1)
    })

    await t.test(
      '§8 an attached file stays when its upload expires, and is removed when it is replaced or deleted',
      async t => {
        time += 1_000_000
        await server.engine.uploads.sweep()
        t.ok((await server.get('/Company(1)/contract?$binary=true')).bytes.equals(large))
        t.equal(files().length, 1)
        await server.send('PUT', '/Company(1)/contract', Buffer.from('small'))
        await server.send('PUT', '/Company(1)/contract', large)
        await server.send('DELETE', '/Company(1)/contract?$binary=true')
        await onlyLeft(files, 0)
        t.same(files(), [])
      },
    )

    await t.test('an upload that is aborted, refused or too large leaves no file', async t => {
      const tooLarge = await server.post('/$upload?$binary=true', Buffer.alloc(4_000_001))
      t.same([tooLarge.status, errorCodes(tooLarge.json)], [413, [1806]])
      await server.post('/$upload?$rawPict=true', large, PNG_TYPE)
      const socket = await beginUpload(server, files)
      socket.resetAndDestroy()
      await onlyLeft(files, 0)
      t.same(files(), [])
    })

    await t.test('uploads beyond the limits are refused with 503 and a time to try again', async t => {
      const sockets: Socket[] = []
      while (sockets.length < 3) sockets.push(await beginUpload(server, files))
      const busy = await server.post('/$upload?$binary=true', 'x')
      t.match(busy, { status: 503, headers: { 'retry-after': '1' } })
      for (const socket of sockets) socket.destroy()
      await onlyLeft(files, 0)
      t.ok(await until(async () => (await upload(server, large)) !== undefined))
      for (let i = 1; i < 6; i++) t.ok(await upload(server, large))
      const full = { status: 503, headers: { 'retry-after': '10' } }
      t.match(await server.post('/$upload?$binary=true', large), full)
      t.match(await server.send('PUT', '/Company(1)/contract', large), full)
      t.equal((await server.post('/$upload?$binary=true', 'x')).status, 200, 'a small upload still fits')
      await onlyLeft(files, 6)
      t.equal(files().length, 6)
    })

    await t.test('uploads outlive a restart', async t => {
      time += 1_000_000
      await server.engine.uploads.sweep()
      const ID = await upload(server, large)
      const tiny = await upload(server, png)
      await server.close()
      const restarted = await startServer(t, { ...company, rows: {} }, options)
      t.equal((await attach(restarted, 'Company', 'contract', ID)).status, 200)
      t.equal((await attach(restarted, 'Employee', 'photo', tiny)).status, 200)
      time += 200_000
      await restarted.engine.uploads.sweep()
      t.equal((await attach(restarted, 'Company', 'contract', ID)).status, 422)
      await onlyLeft(files, 1)
      t.equal(files().length, 1)
    })
  })
}

t.test('§P9 events of the entity run when an upload is attached and when bytes are sent directly', async t => {
  const server = await startServer(t, company, { config: { plugins: [hookedPlugin] } })
  const save = async (body: object) => {
    const { __STAMP } = (await server.get('/Employee(2)')).json
    return server.post('/Employee?$method=update', { __KEY: '2', __STAMP, ...body })
  }
  const photo = async () => (await server.get('/Employee(2)/photo?$imageformat=best')).bytes
  const ID = await upload(server, png)
  t.same(errorCodes((await save({ photo: { ID }, lastName: 'mild' })).json), [7001])
  t.equal((await photo()).length, 0, 'nothing of the entity is saved')
  t.equal((await save({ photo: { ID }, lastName: 'Gauss' })).status, 200)
  t.same(await photo(), png)
  t.same(errorCodes((await save({ photo: { ID: '0'.repeat(32) } })).json), [1825, 1517])
  t.equal((await server.send('DELETE', '/Employee(2)/photo?$imageformat=best')).status, 200)
  t.equal((await photo()).length, 0)
  t.equal((await server.send('PUT', '/Employee(2)/photo', png)).status, 200)
  t.same(await photo(), png)
})

/** @returns a connection in the middle of an upload, part of which is in a file */
async function beginUpload(server: TestServer, files: () => string[]): Promise<Socket> {
  const before = files().length
  for (;;) {
    const socket = connect({ port: server.port, host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write('POST /rest/$upload?$binary=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000000\r\n\r\n')
    socket.write(large.subarray(0, 1_000_000))
    let isRefused = false
    socket.once('data', () => {
      isRefused = true
    })
    if (!(await until(() => isRefused || files().length > before))) throw new Error('no upload has begun')
    if (!isRefused) return socket
    // The slot of an aborted upload is free a moment after its file is removed.
    socket.destroy()
  }
}

/** Waits until `count` files are left, because files are removed after the answers. */
const onlyLeft = (files: () => string[], count: number): Promise<boolean> => until(() => files().length <= count)

t.test('an upload that does not fit on the disk is 503 with the reason', async t => {
  const { folder, files } = folderOf(t)
  const server = await startServer(t, company, { folder })
  const reasons = {
    ENOSPC: /^the disk of the store is full; nothing of this upload was kept$/,
    EROFS: /on a disk that is mounted read-only; nothing/,
    EACCES: /user of the server has no permission to write to the folder of the store; nothing/,
    EMFILE: /has reached the number of open files that the system allows; nothing/,
    ENOENT: /has been removed or replaced; nothing/,
  }
  for (const [code, message] of Object.entries(reasons)) {
    const { restore } = t.intercept(BinaryFiles.prototype, 'prepare', {
      value() {
        throw Object.assign(new Error(`${code}: as the system says it`), { code })
      },
    })
    for (const [method, path] of [
      ['POST', '/$upload?$binary=true'],
      ['PUT', '/Company(1)/contract'],
    ] as const) {
      const answer = await server.send(method, path, large)
      t.equal(answer.status, 503, code)
      t.match(answer.json.__ERROR, [{ errCode: 1046, message }])
    }
    restore()
    t.equal(files().length, 0)
  }
  t.equal((await server.send('POST', '/$upload?$binary=true', large)).status, 200)
})
