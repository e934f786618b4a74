import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { followLog, LogGapError, type LogPlace } from '../../../../engine/log/follow-log.ts'
import { LocalLog, type LocalLogOptions } from '../../../../engine/log/local-log.ts'

const START: LogPlace = { sequence: 0, hash: new Uint8Array(16) }
const text = (n: number): Buffer => Buffer.from(`record ${n} ${'x'.repeat((n * 37) % 200)}`)
const numbers = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i)

function open(t: Test, options: Partial<LocalLogOptions> = {}): { log: LocalLog; folder: string } {
  const folder = options.folder ?? join(t.testdir(), 'log')
  const log = new LocalLog({ firstBytes: 2048, segmentBytes: 2048, ...options, folder })
  t.teardown(() => log.close())
  return { log, folder }
}

/** Numbers of the records, and the place behind the last. */
function follow(folder: string, from: LogPlace, last: number): { found: number[]; place: LogPlace } {
  const found: number[] = []
  let place = from
  for (const { after, record, before } of followLog(folder, from, last)) {
    if (before.sequence !== place.sequence) throw new Error('not in order')
    place = after
    if (!Buffer.from(record).equals(text(after.sequence))) throw new Error(`record ${after.sequence} differs`)
    found.push(after.sequence)
  }
  return { found, place }
}

t.test('records are read from any place on, over several files, up to the last that was committed', async t => {
  const { log, folder } = open(t)
  const positions = numbers(1, 60).map(n => log.append(text(n)))
  t.same(follow(folder, START, 60).found, numbers(1, 60))
  t.same(follow(folder, START, 37).found, numbers(1, 37))
  for (const n of [1, 17, 59]) t.same(follow(folder, positions[n - 1]!, 60).found, numbers(n + 1, 60), `behind ${n}`)
  t.same(follow(folder, positions[59]!, 60).found, [])
  let { place } = follow(folder, START, 1)
  for (let n = 2; n <= 60; n++) {
    const next = follow(folder, place, n)
    t.same(next.found, [n])
    place = next.place
  }
  for (const n of numbers(61, 90)) log.append(text(n))
  t.same(follow(folder, place, 90).found, numbers(61, 90))
})

t.test('a record may be larger than a file and than a read', async t => {
  const { log, folder } = open(t)
  const large = Buffer.alloc(300_000, 7)
  log.append(text(1))
  log.append(large)
  log.append(text(3))
  t.same(
    [...followLog(folder, START, 3)].map(({ record }) => record.length),
    [text(1).length, 300_000, text(3).length],
  )
})

t.test('a record that was taken back is not seen, and the one in its place is', async t => {
  const { log, folder } = open(t)
  log.append(text(1))
  log.append(Buffer.from('not committed'))
  t.same(follow(folder, START, 1).found, [1])
  log.takeBack()
  log.append(text(2))
  t.same(follow(folder, START, 2).found, [1, 2])
})

t.test('a follower behind records that were removed learns where the others begin', async t => {
  const { log, folder } = open(t)
  const positions = numbers(1, 60).map(n => log.append(text(n)))
  log.trim(60)
  const { next } = gapOf(() => follow(folder, positions[2]!, 60))
  t.ok(next!.sequence > 3)
  t.same(follow(folder, next!, 60).found, numbers(next!.sequence + 1, 60))
})

function gapOf(read: () => unknown): LogGapError {
  try {
    read()
  } catch (error) {
    if (error instanceof LogGapError) return error
    throw error
  }
  throw new Error('there is no gap')
}

t.test('what a follower has not read is kept up to its bound', async t => {
  const size = 2048
  for (const [name, followedBytes, followed, first] of [
    ['nothing follows', 0, 0, false],
    ['nothing was read', 1e9, 0, true],
    ['all was read', 1e9, 60, false],
    ['there is no room', 2 * size, 0, false],
  ] as const) {
    const { log, folder } = open(t, { followedBytes })
    for (const n of numbers(1, 60)) log.append(text(n))
    log.followedTo(followed)
    log.trim(60)
    t.equal(hasRecord(folder, 1), first, name)
  }
})

function hasRecord(folder: string, n: number): boolean {
  try {
    return follow(folder, START, n).found.at(-1) === n
  } catch {
    return false
  }
}

t.test('another history of the store is not continued, and damage not read over', async t => {
  const { log, folder } = open(t)
  const positions = numbers(1, 5).map(n => log.append(text(n)))
  await log.close()
  const other = { ...positions[2]!, hash: new Uint8Array(16) }
  t.throws(() => follow(folder, other, 5), { name: 'LogGapError', next: undefined })
  const path = join(folder, '0000000000000001.log')
  const bytes = readFileSync(path)
  bytes[64 + 40 + 1]! ^= 1
  writeFileSync(path, bytes)
  t.throws(() => follow(folder, START, 5), { name: 'LogGapError', next: undefined })
})
