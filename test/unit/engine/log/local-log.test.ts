import {
  appendFileSync,
  copyFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DamagedLogError, type LogPosition } from '../../../../engine/log/commit-log.ts'
import { LocalLog, type LocalLogOptions } from '../../../../engine/log/local-log.ts'
import { readSegments, segmentsOf } from '../../../../engine/log/read-segments.ts'
import { randomOf } from '../../../support/base/random.ts'

const SEGMENT_BYTES = 2048
/** Bytes before the first frame, and before a record in its frame. */
const HEADER = 64
const FRAME = 40

const text = (n: number): Buffer => Buffer.from(`record ${n} ${'x'.repeat((n * 37) % 200)}`)

const opened = new Set<LocalLog>()
t.afterEach(async () => {
  for (const log of opened) await log.close()
  opened.clear()
})

function open(folder: string, options: Partial<LocalLogOptions> = {}): LocalLog {
  const log = new LocalLog({ folder, firstBytes: SEGMENT_BYTES, segmentBytes: SEGMENT_BYTES, ...options })
  opened.add(log)
  return log
}

/** A log with some records, closed. */
async function written(t: Test, count: number): Promise<{ folder: string; positions: LogPosition[] }> {
  const folder = join(t.testdir(), 'log')
  return { folder, positions: await write(folder, count, text) }
}

async function write(folder: string, count: number, content: typeof text): Promise<LogPosition[]> {
  const log = open(folder)
  const positions = Array.from({ length: count }, (_, i) => log.append(content(i + 1)))
  await log.close()
  return positions
}

const records = (log: LocalLog, after = 0): string[] =>
  [...log.read(after)].map(({ record }) => `${Buffer.from(record)}`)
const expected = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `${text(from + i)}`)
const segments = (folder: string): string[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.log'))
    .sort()
    .map(name => join(folder, name))

t.test('records are read back in order, over several files, also after the log is opened again', async t => {
  const { folder, positions } = await written(t, 60)
  t.ok(segments(folder).length > 3)
  t.same(
    readdirSync(folder).filter(name => name.endsWith('.tmp')),
    [],
  )
  const log = open(folder)
  t.same(log.last, positions.at(-1))
  t.same(records(log), expected(1, 60))
  t.same(records(log, 33), expected(34, 60))
  t.same(records(log, 60), [])
  log.append(text(61))
  t.same(records(log, 58), expected(59, 61))
})

t.test('a record may be larger than a file', async t => {
  const { folder } = await written(t, 1)
  const log = open(folder)
  const large = Buffer.alloc(3 * SEGMENT_BYTES, 7)
  log.append(large)
  log.append(text(3))
  await log.close()
  const [first, second, third] = [...open(folder).read(0)].map(({ record }) => Buffer.from(record))
  t.same([`${first}`, second!.equals(large), `${third}`], [`${text(1)}`, true, `${text(3)}`])
})

t.test('the last record is cut off wherever its write was interrupted', async t => {
  const { folder, positions } = await written(t, 3)
  const [file] = segments(folder) as [string]
  const whole = readFileSync(file)
  const start = HEADER + frame(1) + frame(2)
  for (let end = start; end < start + frame(3); end++) {
    // Bytes that did not reach the disk are still zero.
    const torn = Buffer.concat([whole.subarray(0, end), Buffer.alloc(whole.length - end)])
    writeFileSync(file, torn)
    const isWhole = torn.equals(whole)
    const log = new LocalLog({ folder, firstBytes: SEGMENT_BYTES, segmentBytes: SEGMENT_BYTES })
    if (log.last.sequence !== (isWhole ? 3 : 2)) t.fail(`cut at byte ${end - start}`)
    if (!isWhole) {
      t.same(log.last, positions[1])
      log.append(text(3))
      t.same(records(log), expected(1, 3), `continued after byte ${end - start}`)
    }
    await log.close()
  }
})

t.test('a changed bit is found wherever it is, or has no effect', async t => {
  const { folder, positions } = await written(t, 40)
  const random = randomOf(1)
  for (const file of segments(folder)) {
    const whole = readFileSync(file)
    const isLast = file === segments(folder).at(-1)
    for (let i = 0; i < 150; i++) {
      const changed = Buffer.from(whole)
      const at = random.integer(0, whole.length - 1)
      changed[at]! ^= 1 << random.integer(0, 7)
      writeFileSync(file, changed)
      const found = await reread(folder)
      // Behind the last record nothing is read. In the last one, damage cannot be told from a torn write.
      const isRight =
        found instanceof DamagedLogError ||
        found.sequence === 40 ||
        (isLast && found.sequence === 39 && Buffer.compare(found.hash, positions[38]!.hash) === 0)
      if (!isRight) t.fail(`${file}, byte ${at}: ${found}`)
      writeFileSync(file, whole)
    }
  }
  t.equal(((await reread(folder)) as LogPosition).sequence, 40)
})

t.test('missing, swapped, repeated and foreign files are refused, with place and remedy', async t => {
  const { folder } = await written(t, 40)
  const files = segments(folder)
  const [first, second, third] = files as [string, string, string]
  const refused = async (what: string, change: () => void): Promise<void> => {
    const kept = files.map(file => [file, readFileSync(file)] as const)
    change()
    const found = await reread(folder)
    t.ok(found instanceof DamagedLogError, what)
    t.match(
      String(found),
      /log of the store, .*(begins with|does not continue|no readable header|is damaged at byte)/,
      what,
    )
    for (const file of segments(folder)) rmSync(file)
    for (const [file, bytes] of kept) writeFileSync(file, bytes)
  }
  await refused('the first is missing', () => rmSync(first))
  await refused('one between is missing', () => rmSync(second))
  await refused('two are swapped', () => {
    renameSync(second, `${second}.x`)
    renameSync(third, second)
    renameSync(`${second}.x`, third)
  })
  await refused('one is a copy of another', () => copyFileSync(second, third))
  await refused('one is empty', () => writeFileSync(second, ''))
  await refused('one is cut', () => writeFileSync(second, readFileSync(second).subarray(0, 500)))
  const other = join(folder, 'other')
  await write(other, 40, n => Buffer.from(`${text(n)}`.toUpperCase()))
  await refused('one is of another log', () => copyFileSync(segments(other)[1]!, second))
  t.equal(((await reread(folder)) as LogPosition).sequence, 40)
})

t.test('damage before later records is refused, in the last file too', async t => {
  const { folder } = await written(t, 3)
  const [file] = segments(folder) as [string]
  for (const at of [HEADER, HEADER + 9, HEADER + 17, HEADER + 25, HEADER + FRAME + 2]) {
    const whole = readFileSync(file)
    const changed = Buffer.from(whole)
    changed[at]! ^= 0x40
    writeFileSync(file, changed)
    t.match(await reread(folder), { message: /is damaged at byte 64, in record 1; there are records behind it/ })
    writeFileSync(file, whole)
  }
})

t.test('a record that looks like frames is not taken for them', async t => {
  const { folder } = await written(t, 1)
  const copied = readFileSync(segments(folder)[0]!).subarray(HEADER, HEADER + frame(1))
  const log = open(folder)
  // The same log, another file: clients do not know the salt of any.
  const other = open(join(t.testdir({ other: {} }), 'other'))
  const forged = Buffer.from(copied)
  forged.writeDoubleLE(1_000, 8)
  other.append(Buffer.concat([forged, copied, forged]))
  await other.close()
  const [file] = segments(join(t.testdirName, 'other')) as [string]
  const bytes = readFileSync(file)
  bytes[HEADER + 8] = 9
  writeFileSync(file, bytes)
  const found = await reread(join(t.testdirName, 'other'))
  t.match(found, { sequence: 0 }, 'the torn record is cut off')
  await log.close()
})

t.test('what is no longer needed is removed, by size and age', async t => {
  const { folder } = await written(t, 60)
  const all = segments(folder)
  const old = new Date('2026-01-01')
  for (const file of all.slice(0, 2)) utimesSync(file, old, old)
  const log = open(folder, { keepBytes: 1e9, keepMs: 60_000 })
  log.trim(60)
  t.same(segments(folder), all.slice(2), 'those that are too old')
  await log.close()
  const small = open(folder, {
    from: { sequence: 60, hash: log.last.hash },
    keepBytes: 2 * SEGMENT_BYTES,
    keepMs: 1e12,
  })
  small.trim(60)
  t.same(segments(folder), all.slice(-2), 'those beyond the size')
  await small.close()
  const strict = open(folder, { from: small.last })
  const kept = segments(folder)
  strict.trim(strict.last.sequence - 20)
  t.same(segments(folder), kept, 'records that are needed stay')
  strict.trim(60)
  t.same(segments(folder), all.slice(-1), 'the one that is written to stays')
  for (let i = 61; i <= 80; i++) strict.append(text(i))
  strict.trim(70)
  t.same(records(strict, 70), expected(71, 80))
})

t.test('the last record can be taken back, also for good', async t => {
  const { folder, positions } = await written(t, 2)
  const log = open(folder)
  log.append(text(99))
  log.takeBack()
  t.same(log.last, positions[1])
  log.takeBack()
  t.same(log.last, positions[1], 'but no other one')
  await log.close()
  const again = open(folder)
  t.same(records(again), expected(1, 2))
  again.append(text(3))
  again.append(text(98))
  again.takeBack()
  again.append(text(4))
  await again.close()
  t.same(records(open(folder)), expected(1, 4))
})

t.test('an append that fails before it has written leaves the record before, also when it is taken back', async t => {
  const { folder } = await written(t, 2)
  const log = open(folder)
  const acknowledged = log.append(text(3))
  // The next segment cannot be made.
  renameSync(folder, `${folder}-away`)
  t.throws(() => log.append(Buffer.alloc(2 * SEGMENT_BYTES)), { code: 'ENOENT' })
  log.takeBack()
  renameSync(`${folder}-away`, folder)
  t.same(log.last, acknowledged)
  log.append(text(4))
  await log.close()
  t.same(records(open(folder)), expected(1, 4))
})

t.test('a store that has been replaced begins a file of its own, behind all records', async t => {
  const { folder, positions } = await written(t, 40)
  const from = { sequence: 7, hash: positions[6]!.hash }
  t.throws(
    () => new LocalLog({ folder, from: { sequence: 41, hash: from.hash }, mustContinue: true }),
    /does not contain record 41/,
  )
  t.throws(
    () => new LocalLog({ folder, from: { sequence: 7, hash: positions[7]!.hash }, mustContinue: true }),
    /record 7/,
  )
  const older = open(folder, { from: { sequence: 7, hash: positions[7]!.hash } })
  t.equal(older.append(text(41)).sequence, 41)
  t.same(records(older, 40), expected(41, 41))
  await older.close()
  const newer = open(folder, { from: { sequence: 100, hash: from.hash } })
  t.equal(newer.append(text(101)).sequence, 101)
  t.same(records(newer, 100), expected(101, 101))
  await newer.close()
  const all = [...readSegments(segmentsOf(folder), 1, { withStart: true })]
  t.same(
    all.filter(({ record }) => record.length > 0).map(({ record }) => `${Buffer.from(record)}`),
    [...expected(1, 41), ...expected(101, 101)],
    'files that are kept are not in conflict',
  )
  t.same(
    all.filter(({ record }) => record.length === 0).map(({ sequence }) => sequence),
    [0, 40, 100],
    'each history says where it begins',
  )
  for (const sequence of [7, 40]) {
    const earlier = { sequence, hash: positions[sequence - 1]!.hash }
    t.throws(
      () => new LocalLog({ folder, from: earlier, mustContinue: true }),
      /does not contain/,
      `record ${sequence}`,
    )
  }
  t.throws(() => [...readSegments(segmentsOf(folder), 39)], /damaged|missing|does not continue/)
})

t.test('files become larger with the log, up to a maximum', async t => {
  const folder = join(t.testdir(), 'log')
  const log = open(folder, { firstBytes: 256, segmentBytes: 1024 })
  for (let i = 1; i <= 40; i++) {
    log.append(text(i))
    // Files are prepared while others are written to.
    await new Promise(resolve => setImmediate(resolve))
  }
  t.same(
    segments(folder)
      .slice(0, 4)
      .map(file => statSync(file).size),
    [256, 512, 1024, 1024],
  )
  t.same(records(log), expected(1, 40))
})

t.test('remains of an interrupted preparation are removed', async t => {
  const { folder } = await written(t, 2)
  appendFileSync(join(folder, 'next.tmp'), 'half')
  const log = open(folder)
  t.same(records(log), expected(1, 2))
  await log.close()
  t.same(readdirSync(folder), ['0000000000000001.log'])
  t.equal(statSync(segments(folder)[0]!).size, SEGMENT_BYTES)
})

const frame = (n: number): number => (FRAME + text(n).length + 7) & ~7

/** Opens a log, reads all of it and closes it. @returns its last record, or the error */
async function reread(folder: string): Promise<LogPosition | DamagedLogError> {
  try {
    const log = new LocalLog({ folder, firstBytes: SEGMENT_BYTES, segmentBytes: SEGMENT_BYTES })
    const { last } = log
    await log.close()
    return last
  } catch (error) {
    if (error instanceof DamagedLogError) return error
    throw error
  }
}
