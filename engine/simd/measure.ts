/**
 * Measures each kernel against its twin in plain JavaScript on 1 M rows:
 *
 *   node config/build.mjs --out dist-simd --only engine/simd/measure.ts && node dist-simd/engine/simd/measure.js
 */
import { SEGMENT_ROWS, SEGMENT_WORDS } from '../storage/snapshot.ts'
import { type Kernels, simdKernels } from './kernels.ts'
import { plainKernels } from './plain-kernels.ts'

const ROWS = 1_000_000
const TARGETS = 10_000
const ROUNDS = 25
const LAYOUT = { present: 64, values: 576 }

const count = Math.ceil(ROWS / SEGMENT_ROWS)
const bitmapBytes = count * SEGMENT_WORDS * 4
const memory = new WebAssembly.Memory({ initial: 1024, maximum: 1024, shared: true })
const words = new Uint32Array(memory.buffer)
const integers = new Int32Array(memory.buffer)
const floats = new Float64Array(memory.buffer)

let end = 8192
const allocate = (bytes: number): number => {
  const address = end
  end += Math.ceil(bytes / 64) * 64
  return address
}

let state = 1
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}

/** A column without nulls; `set` stores a value at an index of its type. */
function column(valueBytes: number, set: (index: number, row: number) => void): number {
  const list = allocate(count * 4)
  for (let segment = 0; segment < count; segment++) {
    const address = allocate(LAYOUT.values + SEGMENT_ROWS * valueBytes)
    words[(list >>> 2) + segment] = address
    for (let i = 0; i < SEGMENT_ROWS && segment * SEGMENT_ROWS + i < ROWS; i++) {
      words[((address + LAYOUT.present) >>> 2) + (i >>> 5)]! |= 1 << (i & 31)
      set((address + LAYOUT.values) / valueBytes + i, segment * SEGMENT_ROWS + i)
    }
  }
  return list
}

function bitmap(share: number, bits = count * SEGMENT_ROWS): number {
  const address = allocate(Math.ceil(bits / 32) * 4)
  for (let bit = 0; bit < bits; bit++) {
    if (random() < share) words[(address >>> 2) + (bit >>> 5)]! |= 1 << (bit & 31)
  }
  return address
}

const salaries = column(8, index => {
  floats[index] = Math.floor(random() * 100_000)
})
const ages = column(4, index => {
  integers[index] = Math.floor(random() * 100)
})
const employers = column(8, index => {
  floats[index] = Math.floor(random() * TARGETS)
})
const half = bitmap(0.5)
const fiftieth = bitmap(0.02)
const all = bitmap(1)
const targets = bitmap(0.1, TARGETS)
const marks = allocate(TARGETS / 8)
const targetWords = Math.ceil(TARGETS / 32)
const out = allocate(bitmapBytes)
const dense = allocate(count * SEGMENT_ROWS * 8)
const result = allocate(32)
const list = allocate(16)
words.set([7, 42, 63, 99], list >>> 2)
const bitmapWords = count * SEGMENT_WORDS

const highest = new Float64Array(100 + SEGMENT_ROWS)

/** The 100 highest: whatever is not above the lowest of those found so far is filtered out, segment by segment. */
function top(kernels: Kernels): number {
  let length = 0
  let threshold = Number.NEGATIVE_INFINITY
  for (let segment = 0; segment < count; segment++) {
    const column = salaries + segment * 4
    const hits = kernels.filterF64(column, 1, 0, threshold, Number.POSITIVE_INFINITY, true, out)
    if (hits === 0) continue
    kernels.gatherF64(column, 1, out, 0, dense)
    highest.set(floats.subarray(dense >>> 3, (dense >>> 3) + hits), length)
    length += hits
    highest.subarray(0, length).sort()
    if (length < 100) continue
    highest.copyWithin(0, length - 100, length)
    length = 100
    // Salaries are integers. Of equal ones the first rows win.
    threshold = highest[0]! + 1
  }
  return highest[0]!
}

const cases: [name: string, run: (kernels: Kernels) => unknown][] = [
  ['filter f64, all rows', k => k.filterF64(salaries, count, 0, 30_000, 60_000, true, out)],
  ['filter f64, count only', k => k.filterF64(salaries, count, 0, 30_000, 60_000, true, 0)],
  ['filter f64 >= x', k => k.filterF64(salaries, count, 0, 30_000, Number.POSITIVE_INFINITY, true, out)],
  ['filter f64, half are candidates', k => k.filterF64(salaries, count, half, 30_000, 60_000, true, out)],
  ['filter f64, 2 % are candidates', k => k.filterF64(salaries, count, fiftieth, 30_000, 60_000, true, out)],
  ['filter i32, all rows', k => k.filterI32(ages, count, 0, 30, 60, true, out)],
  ['filter u32, one text', k => k.filterU32(ages, count, 0, list, 1, true, out)],
  ['filter u32, four texts', k => k.filterU32(ages, count, 0, list, 4, true, out)],
  ['filter present', k => k.filterPresent(salaries, count, half, true, out)],
  ['aggregate f64, all rows', k => k.aggregateF64(salaries, count, 0, result)],
  ['aggregate f64, half', k => k.aggregateF64(salaries, count, half, result)],
  ['aggregate f64, 2 %', k => k.aggregateF64(salaries, count, fiftieth, result)],
  ['aggregate i32, all rows', k => k.aggregateI32(ages, count, 0, result)],
  ['aggregate i32, half', k => k.aggregateI32(ages, count, half, result)],
  ['aggregate i32, 2 %', k => k.aggregateI32(ages, count, fiftieth, result)],
  ['gather f64, all rows', k => k.gatherF64(salaries, count, all, 0, dense)],
  ['gather f64, half', k => k.gatherF64(salaries, count, half, 0, dense)],
  ['gather f64, 2 %', k => k.gatherF64(salaries, count, fiftieth, 0, dense)],
  ['top 100 of all rows', top],
  ['semi-join, all rows', k => k.semiJoin(employers, count, 0, targets, targetWords, out)],
  ['semi-join, half', k => k.semiJoin(employers, count, half, targets, targetWords, out)],
  ['semi-join, 2 %', k => k.semiJoin(employers, count, fiftieth, targets, targetWords, out)],
  ['mark referenced, all rows', k => k.markReferenced(employers, count, 0, marks, targetWords)],
  ['mark referenced, half', k => k.markReferenced(employers, count, half, marks, targetWords)],
  ['mark referenced, 2 %', k => k.markReferenced(employers, count, fiftieth, marks, targetWords)],
  ['and', k => k.and(half, fiftieth, out, bitmapWords)],
  ['or', k => k.or(half, fiftieth, out, bitmapWords)],
  ['and not', k => k.andNot(half, fiftieth, out, bitmapWords)],
  ['and, count only', k => k.and(half, fiftieth, 0, bitmapWords)],
  ['popcount', k => k.popcount(half, bitmapWords)],
]

function microseconds(run: () => unknown): number {
  const start = process.hrtime.bigint()
  run()
  return Number(process.hrtime.bigint() - start) / 1000
}

/** What else the machine does only ever adds time. */
const fastest = (values: number[]): number => Math.min(...values)

const simd = simdKernels(memory, LAYOUT)
if (!simd) throw new Error('this WebAssembly has no SIMD')
const plain = plainKernels(memory, LAYOUT)
// All of them once before any is timed: the twins share loops, which in a server are warm for every kind of column too.
for (const [, run] of cases) for (let i = 0; i < 10; i++) run(simd) !== run(plain)
console.log('1 M rows                           SIMD µs   plain µs   SIMD rows/µs   plain rows/µs   ratio')
for (const [name, run] of cases) {
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round++) {
    times[0].push(microseconds(() => run(simd)))
    times[1].push(microseconds(() => run(plain)))
  }
  const [fast, slow] = times.map(fastest) as [number, number]
  const cells = [fast.toFixed(0), slow.toFixed(0), (ROWS / fast).toFixed(0), (ROWS / slow).toFixed(0)]
  const columns = cells.map((cell, i) => cell.padStart([7, 10, 14, 15][i]!)).join(' ')
  console.log(`${name.padEnd(34)} ${columns} ${(slow / fast).toFixed(1).padStart(7)}`)
}
