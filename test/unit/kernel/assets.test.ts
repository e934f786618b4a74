import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { loadAssets, MAX_ASSET_BYTES, sendAsset } from '../../../kernel/assets.ts'
import type { Reply, RestRequest } from '../../../kernel/api.ts'

const loadFrom = async (folder: string) => loadAssets(pathToFileURL(`${folder}/`))

t.test('files of a folder, and nothing from outside', async t => {
  const folder = t.testdir({
    page: {
      'index.html': '<p>',
      'a b.txt': 'text',
      '.env': 'secret',
      '.git': { config: 'secret' },
      sub: { 'app-5XHGJ4TM.js': 'run()', ünï: { 'x.bin': '\u0001' } },
    },
    outside: { 'secret.txt': 'secret' },
  })
  symlinkSync(join(folder, 'outside/secret.txt'), join(folder, 'page/link.txt'))
  symlinkSync(join(folder, 'outside'), join(folder, 'page/linked'))
  const assets = await loadFrom(join(folder, 'page'))
  t.same(
    [...assets].map(([path, { mediaType, cacheControl }]) => [path, mediaType, cacheControl]),
    [
      ['a%20b.txt', 'text/plain; charset=UTF-8', 'no-cache'],
      ['index.html', 'text/html; charset=UTF-8', 'no-cache'],
      ['sub/app-5XHGJ4TM.js', 'text/javascript; charset=UTF-8', 'public, max-age=31536000, immutable'],
      [`sub/${encodeURIComponent('ünï')}/x.bin`, 'application/octet-stream', 'no-cache'],
    ],
  )
})

t.test('a folder that does not exist, or is too large', async t => {
  const folder = t.testdir({ large: {} })
  await t.rejects(loadFrom(join(folder, 'none')), { code: 'ENOENT' })
  mkdirSync(join(folder, 'large/a'))
  writeFileSync(join(folder, 'large/a/one'), Buffer.alloc(MAX_ASSET_BYTES))
  t.equal((await loadFrom(join(folder, 'large'))).size, 1)
  writeFileSync(join(folder, 'large/two'), 'x')
  await t.rejects(loadFrom(join(folder, 'large')), { message: /large has more than \d+ bytes to serve/ })
})

t.test('conditions, parts and compression', async t => {
  const text = 'some text, '.repeat(1_000)
  const folder = t.testdir({ 'a.txt': text, 'b.png': 'x'.repeat(5_000) })
  const assets = await loadFrom(folder)
  const send = (name: string, headers: Record<string, string> = {}, coding?: 'br'): Promise<Reply> =>
    sendAsset(assets.get(name)!, {
      verb: 'GET',
      transport: { header: (each: string) => headers[each] ?? '', coding },
    } as unknown as RestRequest)

  const plain = await send('a.txt')
  t.match(plain, { status: 200, headers: { Vary: 'Accept-Encoding' } })
  const coded = await send('a.txt', {}, 'br')
  t.match(coded.headers, { 'Content-Encoding': 'br' })
  t.equal(brotliDecompressSync(coded.body as Uint8Array).toString(), text)
  t.not(coded.headers!.ETag, plain.headers!.ETag, 'a tag identifies the exact bytes')
  const again = await send('a.txt', {}, 'br')
  t.equal((again.body as Uint8Array).buffer, (coded.body as Uint8Array).buffer, 'compressed once')
  t.match(await send('a.txt', { 'if-none-match': `"x", ${coded.headers!.ETag}` }, 'br'), { status: 304, body: '' })
  t.match(await send('a.txt', { 'if-none-match': String(coded.headers!.ETag) }), { status: 200 })

  const part = await send('a.txt', { range: 'bytes=5-8' }, 'br')
  t.match(part, { status: 206, headers: { 'Content-Range': `bytes 5-8/${text.length}` } })
  t.equal(Buffer.from(part.body as Uint8Array).toString(), 'text')
  t.notOk(part.headers!['Content-Encoding'], 'a part is of the plain bytes')
  t.match(await send('a.txt', { range: 'bytes=99999-' }), { status: 416 })
  t.notOk((await send('b.png', {}, 'br')).headers!['Content-Encoding'], 'images are compressed already')
})
