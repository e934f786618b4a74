import { mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { bytesOf } from '../../../../engine/answer/answer-body.ts'
import { AnswerSink } from '../../../../engine/answer/answer-sink.ts'
import { ByteBudget } from '../../../../engine/answer/byte-budget.ts'
import type { Coding } from '../../../../engine/answer/coding.ts'
import { SpoolFiles } from '../../../../engine/answer/spool-files.ts'
import { SpoolWriter } from '../../../../engine/answer/spool-writer.ts'
import { randomOf } from '../../../support/base/random.ts'
import { until } from '../../../support/base/until.ts'

const MIB = 2 ** 20

function resources(t: Test, { memory = 64 * MIB, disk = 64 * MIB } = {}) {
  const folder = join(t.testdir({}), 'spool')
  const faults: string[] = []
  const files = new SpoolFiles(folder, ByteBudget.of(disk), text => faults.push(text))
  t.teardown(() => files.close())
  return { folder, files, memory: ByteBudget.of(memory), held: new Int32Array(1), faults }
}

type Resources = ReturnType<typeof resources>

const sinkOf = ({ files, memory, held }: Resources, file: number | undefined, coding?: Coding) =>
  new AnswerSink({ coding, spool: new SpoolWriter(file, files.disk, false), memory, holdings: held, slot: 0 })

const decoded = (bytes: Uint8Array, coding: Coding | undefined): Buffer => {
  if (coding === 'br') return brotliDecompressSync(bytes)
  return coding === 'gzip' ? gunzipSync(bytes) : Buffer.from(bytes)
}

t.test('the decoded answer equals the written content, for all sizes, pieces and codings', async t => {
  const own = resources(t)
  const random = randomOf(11)
  for (const size of [0, 1, 2_047, 2_048, 70_000, MIB, MIB + 1, 3 * MIB + 5]) {
    // Half of the bytes do not compress, so that large content stays large when compressed.
    const content = Buffer.from(Uint8Array.from({ length: size }, (_, i) => (i % 2 ? random.integer(0, 255) : 65)))
    for (const coding of [undefined, 'gzip', 'br'] as const) {
      for (const pieceBytes of [100_000, 700_000, Number.POSITIVE_INFINITY]) {
        const file = own.files.take()
        const sink = sinkOf(own, file, coding)
        let at = 0
        for (; at + pieceBytes < size; at += pieceBytes) sink.write(content.subarray(at, at + pieceBytes))
        const packed = sink.end(content.subarray(at))
        sink.close()
        const bytes = packed.bytes ?? (await bytesOf({ coding, body: own.files.source(file!, packed.size) }))
        const name = `${size} ${coding} ${pieceBytes}`
        t.equal(bytes.length, packed.size, name)
        t.ok(decoded(bytes, packed.coding).equals(content), name)
        t.equal(packed.bytes === undefined, packed.size > MIB && pieceBytes < size, `${name}: is in a file`)
        t.equal(packed.coding, size < 2_048 ? (pieceBytes < size ? coding : undefined) : coding, name)
        if (packed.bytes) own.files.giveBack(file)
      }
    }
  }
  t.ok(await until(() => own.files.disk.usedBytes === 0))
  t.strictSame(readdirSync(own.folder), [])
})

t.test('content that does not become smaller is not compressed', async t => {
  const own = resources(t)
  const random = randomOf(3)
  const noise = Uint8Array.from({ length: 5_000 }, () => random.integer(0, 255))
  for (const coding of ['gzip', 'br'] as const) t.equal(sinkOf(own, undefined, coding).end(noise).coding, undefined)
})

t.test('an answer that fails leaves an empty file, and releases its memory and disk', async t => {
  const own = resources(t)
  const file = own.files.take()
  const sink = sinkOf(own, file)
  sink.hold(5 * MIB)
  t.equal(own.memory.usedBytes, 5 * MIB)
  t.equal(own.held[0], 5 * 1024, 'the process knows what to release if the thread ends')
  for (let i = 0; i < 3; i++) sink.write(Buffer.alloc(MIB, 'a'))
  t.ok(own.files.disk.usedBytes > MIB)
  sink.discard()
  sink.close()
  t.equal(own.memory.usedBytes, 0)
  t.equal(own.held[0], 0)
  t.equal(own.files.disk.usedBytes, 0)
  own.files.giveBack(file)
  const next = sinkOf(own, own.files.take())
  for (let i = 0; i < 2; i++) next.write(Buffer.alloc(MIB, 'b'))
  const { size } = next.end(Buffer.alloc(1, 'b'))
  t.ok(
    Buffer.from(await bytesOf({ coding: undefined, body: own.files.source(file!, size) })).equals(
      Buffer.alloc(2 * MIB + 1, 'b'),
    ),
  )
})

t.test('the file of a thread that has ended is closed, and its size released', async t => {
  const own = resources(t)
  const file = own.files.take()
  const sink = sinkOf(own, file)
  for (let i = 0; i < 3; i++) sink.write(Buffer.alloc(MIB))
  own.files.abandon(file)
  t.equal(own.files.disk.usedBytes, 0)
})

t.test('an answer beyond the shared budget of memory or disk is refused with 503', async t => {
  const own = resources(t, { memory: 8 * MIB, disk: 2 * MIB })
  const sink = sinkOf(own, own.files.take())
  sink.hold(8 * MIB)
  const refused = (message: RegExp) => ({ httpStatus: 503, retryAfterSeconds: 2, message })
  t.throws(() => sink.hold(9 * MIB), refused(/8388608 bytes of memory/))
  for (let i = 0; i < 2; i++) sink.write(Buffer.alloc(MIB))
  t.throws(() => sink.write(Buffer.alloc(MIB + 1)), refused(/2097152 bytes of disk/))
  sink.discard()
  sink.close()
  t.strictSame([own.memory.usedBytes, own.files.disk.usedBytes], [0, 0])
})

t.test('a full disk is answered with 503 as well', { skip: process.platform !== 'linux' }, async t => {
  const own = resources(t)
  const sink = sinkOf(own, openSync('/dev/full', 'w'))
  t.throws(
    () => {
      for (let i = 0; i < 3; i++) sink.write(Buffer.alloc(MIB))
    },
    { httpStatus: 503, name: 'ANSWER.DISK', message: /disk of the store is full/, retryAfterSeconds: 2 },
  )
})

t.test('when no file can be made, small answers are made and larger ones refused', async t => {
  const own = resources(t)
  writeFileSync(own.folder, 'in the way')
  t.equal(own.files.take(), undefined)
  t.equal(own.files.take(), undefined)
  t.equal(own.faults.length, 1, 'reported once')
  t.equal(sinkOf(own, undefined).end(Buffer.alloc(MIB)).size, MIB)
  const sink = sinkOf(own, undefined)
  t.throws(
    () => {
      for (let i = 0; i < 3; i++) sink.write(Buffer.alloc(MIB))
    },
    { name: 'ANSWER.DISK', message: /could not make one, and its log/, httpStatus: 503 },
  )
})

t.test('files that a crash left in the folder are removed', async t => {
  const own = resources(t)
  mkdirSync(own.folder)
  writeFileSync(join(own.folder, '0123456789abcdef'), 'left')
  own.files.giveBack(own.files.take())
  t.strictSame(readdirSync(own.folder), [])
})

t.test('the file of a source that is closed during a read is given back after the read', async t => {
  const own = resources(t)
  const file = own.files.take()
  const sink = sinkOf(own, file)
  for (let i = 0; i < 3; i++) sink.write(Buffer.alloc(MIB))
  const { size } = sink.end(Buffer.alloc(0))
  const source = own.files.source(file!, size)
  const reading = source.read(0)
  source.close()
  t.ok((await reading).length > 0)
  t.ok(await until(() => own.files.disk.usedBytes === 0))
  t.equal(own.files.take(), file)
})
