import { withoutPacking } from '../../../../engine/base/row-formats.ts'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { readBytes } from '../../../../engine/import/read-text.ts'
import { packer, unpack } from '../../../../engine/import/unpack.ts'

const TEXT = 'ID,name\n1,Ada\n2,Kurt\n'
const GZIP = gzipSync(TEXT)
/** Two frames, one behind the other. */
const ZSTD = Buffer.from('KLUv/SAOcQAASUQsbmFtZQoxLEFkYQootS/9IAc5AAAyLEt1cnQK', 'base64')

/** A frame with blocks of 4 bytes that each become 128 KiB. Source: RFC 8878, 3.1.1. */
function bomb(blocks: number): Buffer {
  const block = (isLast: boolean): Buffer => {
    const header = (isLast ? 1 : 0) | (1 << 1) | ((2 ** 17) << 3)
    return Buffer.of(header & 0xff, (header >> 8) & 0xff, header >> 16, 0x61)
  }
  const head = Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38)
  return Buffer.concat([head, ...Array.from({ length: blocks }, (_, i) => block(i === blocks - 1))])
}

async function* inParts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

t.test('packed files are known by their name and by their begin', async t => {
  const cases: readonly (readonly [name: string, bytes: Buffer, wanted: string | RegExp])[] = [
    ['a.csv', Buffer.from(TEXT), TEXT],
    ['a.csv.gz', GZIP, TEXT],
    ['a.csv', GZIP, TEXT],
    ['-', GZIP, TEXT],
    ['a.csv.zst', ZSTD, TEXT],
    ['-', ZSTD, TEXT],
    ['a.csv', Buffer.alloc(0), ''],
    ['a.csv', Buffer.from('1'), '1'],
    ['a.csv.gz', Buffer.from(TEXT), /cannot be read: incorrect header check/],
    ['a.csv.zst', Buffer.from(TEXT), /cannot be read: /],
    ['a.csv.gz', GZIP.subarray(0, -9), /cannot be read: unexpected end of file/],
    ['a.csv.zst', ZSTD.subarray(0, -3), /cannot be read: /],
  ]
  const folder = t.testdir()
  for (const [i, [name, bytes, wanted]] of cases.entries()) {
    const path = join(folder, name === '-' ? 'stdin' : name)
    writeFileSync(path, bytes)
    const read = async () => Buffer.concat(await Readable.from(readBytes(path, () => {})).toArray()).toString()
    if (typeof wanted === 'string') t.equal(await read(), wanted, `${i}: ${name}`)
    else await t.rejects(read(), { message: wanted }, `${i}: ${name}`)
  }
})

t.test('parts may end anywhere', async t => {
  for (const bytes of [GZIP, ZSTD])
    for (const size of [1, 3, 7]) {
      const parts = await Readable.from(unpack('-', inParts(bytes, size))).toArray()
      t.equal(Buffer.concat(parts).toString(), TEXT, `${size}`)
    }
})

t.test('what a small file becomes is not in memory at once', async t => {
  const bytes = bomb(8_000)
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for await (const part of unpack('bomb.zst', inParts(bytes, bytes.length))) {
    most = Math.max(most, part.length, process.memoryUsage().arrayBuffers - before)
    break
  }
  t.ok(bytes.length < 33_000 && most < 100 * 2 ** 20, `${bytes.length} bytes, ${most} in memory`)
  let total = 0
  for await (const { length } of unpack('bomb.zst', inParts(bomb(80), 100))) total += length
  t.equal(total, 80 * 2 ** 17)
})

t.test('names', async t => {
  t.same(['a.csv.gz', 'a.csv.ZST', 'a.csv', 'gz'].map(withoutPacking), ['a.csv', 'a.csv', 'a.csv', 'gz'])
  t.equal(packer('a.csv'), undefined)
})
