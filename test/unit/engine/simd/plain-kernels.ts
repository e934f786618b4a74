import type { Kernels, MemoryLayout } from '../../../../engine/simd/kernels.ts'
import { SEGMENT_WORDS } from '../../../../engine/data/snapshot.ts'
import { SKETCHES_HEADER_BYTES } from '../../../../engine/vector/math/sketch.ts'

/** Reference kernels in plain JavaScript. Addresses go up to 2^32, so unsigned shifts convert them to indexes. */
export function plainKernels(memory: WebAssembly.Memory, layout: MemoryLayout): Kernels {
  const words = new Uint32Array(memory.buffer)
  const floats = new Float64Array(memory.buffer)
  const singles = new Float32Array(memory.buffer)

  const segmentAt = (segments: number, index: number): number => words[(segments >>> 2) + index]!

  /**
   * Calls `passing` for each word that has rows to examine, with the address of its 32 values, and keeps the rows
   * that it returns.
   */
  function filter(
    segments: number,
    count: number,
    candidates: number,
    out: number,
    valueBytes: number,
    passing: (address: number, bits: number) => number,
  ): number {
    let hits = 0
    for (let segment = 0, word = 0; segment < count; segment++) {
      const address = segmentAt(segments, segment)
      const present = (address + layout.present) >>> 2
      for (let i = 0; i < SEGMENT_WORDS; i++, word++) {
        let bits = words[present + i]!
        if (candidates !== 0) bits &= words[(candidates >>> 2) + word]!
        if (bits !== 0) bits &= passing(address + layout.values + i * 32 * valueBytes, bits)
        if (out !== 0) words[(out >>> 2) + word] = bits
        hits += bitCount(bits)
      }
    }
    return hits
  }

  /** Sum in two doubles, minimum and maximum of the rows in `lane`, a mask for each word. */
  function aggregateLane(segments: number, count: number, candidates: number, lane: number) {
    let hits = 0
    let high = 0
    let low = 0
    let min = Number.POSITIVE_INFINITY
    let max = Number.NEGATIVE_INFINITY
    for (let segment = 0, word = 0; segment < count; segment++) {
      const address = segmentAt(segments, segment)
      const present = (address + layout.present) >>> 2
      const first = (address + layout.values) >>> 3
      for (let i = 0; i < SEGMENT_WORDS; i++, word++) {
        let bits = words[present + i]! & lane
        if (candidates !== 0) bits &= words[(candidates >>> 2) + word]!
        for (; bits !== 0; bits &= bits - 1) {
          const value = floats[first + i * 32 + lowestBit(bits)]!
          const sum = high + value
          const part = sum - high
          low += high - (sum - part) + (value - part)
          high = sum
          if (value < min) min = value
          if (value > max) max = value
          hits++
        }
      }
    }
    return { hits, high, low, min, max }
  }

  return {
    filterF64: (segments, count, candidates, lower, upper, inside, out) =>
      filter(segments, count, candidates, out, 8, address => {
        let bits = 0
        for (let i = 0, first = address >>> 3; i < 32; i++) {
          const value = floats[first + i]!
          bits |= (+(value >= lower) & +(value <= upper)) << i
        }
        return inside ? bits : ~bits
      }),

    filterU32(segments, count, candidates, list, length, inside, out) {
      const start = list >>> 2
      return filter(segments, count, candidates, out, 4, address => {
        let bits = 0
        for (let i = 0, first = address >>> 2; i < 32; i++) {
          const value = words[first + i]!
          for (let j = start; j < start + length; j++) bits |= +(words[j] === value) << i
        }
        return inside ? bits : ~bits
      })
    },

    filterPattern(segments, count, candidates, pattern, inside, out) {
      const at = pattern >>> 2
      const parts: string[] = []
      for (let i = 0, word = at + 1; i < words[at]!; i++) {
        const length = words[word]!
        parts.push(Buffer.from(memory.buffer, (word + 1) * 4, length).toString('latin1'))
        word += 1 + ((length + 3) >>> 2)
      }
      return filter(segments, count, candidates, out, 4, (address, bits) => {
        let found = 0
        for (let rest = bits; rest !== 0; rest &= rest - 1) {
          const row = lowestBit(rest)
          const text = words[(address >>> 2) + row]!
          const length = words[(text + layout.textLength) >>> 2]! & 0x7fffffff
          const bytes = Buffer.from(memory.buffer, text + layout.textBytes, length)
          found |= +hasParts(bytes.toString('latin1'), parts) << row
        }
        return inside ? found : ~found
      })
    },

    aggregateF64(segments, count, candidates, result) {
      const even = aggregateLane(segments, count, candidates, 0x55555555)
      const odd = aggregateLane(segments, count, candidates, 0xaaaaaaaa)
      const joined = even.high + odd.high
      const part = joined - even.high
      const lost = even.high - (joined - part) + (odd.high - part)
      const rest = even.low + odd.low + lost
      const total = joined + rest
      floats[result >>> 3] = total
      floats[(result >>> 3) + 1] = rest - (total - joined)
      // Adding 0 turns -0 into 0.
      floats[(result >>> 3) + 2] = Math.min(even.min, odd.min) + 0
      floats[(result >>> 3) + 3] = Math.max(even.max, odd.max) + 0
      return even.hits + odd.hits
    },

    semiJoin: (segments, count, candidates, targets, targetWords, out) =>
      filter(segments, count, candidates, out, 8, (address, bits) => {
        let found = 0
        for (let rest = bits; rest !== 0; rest &= rest - 1) {
          const row = lowestBit(rest)
          const target = floats[(address >>> 3) + row]! >>> 0
          const word = target >>> 5 < targetWords ? words[(targets >>> 2) + (target >>> 5)]! : 0
          found |= ((word >>> (target & 31)) & 1) << row
        }
        return found
      }),

    copyRows(
      rows,
      count,
      offsets,
      text,
      slices,
      slicesEnd,
      lastSlot,
      inserts,
      insertCount,
      insertBytes,
      out,
      outEnd,
      result,
    ) {
      const bytes = Buffer.from(memory.buffer)
      let copied = 0
      for (; copied < count; copied++) {
        const row = words[(rows >>> 2) + copied]!
        const offset = (slot: number) => (slot === 0xffffffff ? 0 : words[((row + offsets) >>> 2) + slot]!)
        const range = (n: number): [number, number] => {
          const at = (inserts >>> 2) + 2 * (copied * insertCount + n)
          return [words[at]!, words[at + 1]!]
        }
        const inserted = Array.from({ length: insertCount }, (_, n) => range(n)[1] - range(n)[0])
        if (inserted.reduce((sum, size) => sum + size, offset(lastSlot)) + 19 > outEnd - out) break
        out += bytes.write(',{', out)
        for (let slice = slices >>> 2; slice < slicesEnd >>> 2; slice += 2) {
          const isInsert = words[slice] === 0xfffffffe
          const [start, end] = isInsert ? range(words[slice + 1]!) : [offset(words[slice]!), offset(words[slice + 1]!)]
          const from = isInsert ? insertBytes : row + text
          out += bytes.copy(bytes, out, from + start, from + end)
        }
        out += bytes.write('}', out)
      }
      words[result >>> 2] = out
      return copied
    },

    touchRows() {},

    markReferenced(segments, count, candidates, targets, targetWords) {
      filter(segments, count, candidates, 0, 8, (address, bits) => {
        for (let rest = bits; rest !== 0; rest &= rest - 1) {
          const target = floats[(address >>> 3) + lowestBit(rest)]! >>> 0
          if (target >>> 5 < targetWords) words[(targets >>> 2) + (target >>> 5)]! |= 1 << (target & 31)
        }
        return 0
      })
    },

    scoreVectors(segments, count, candidates, query, dimension, metric, scale, tolerance, out) {
      const { fround } = Math
      let at = out >>> 2
      filter(segments, count, candidates, 0, 4, (address, bits) => {
        for (let rest = bits; rest !== 0; rest &= rest - 1) {
          const vector = words[(address >>> 2) + lowestBit(rest)]!
          const numbers = singles.subarray((vector + layout.vectorNumbers) >>> 2)
          const length = singles[(vector + layout.vectorLength) >>> 2]!
          const sum = comparison(numbers, singles.subarray(query >>> 2, (query >>> 2) + dimension), metric === 2)
          const isKnown = metric === 2 || (length < 1e18 && length > fround(1 / fround(1e18)))
          const value = metric === 0 ? sum / length : metric === 1 ? sum * fround(scale) : Math.sqrt(sum)
          const score = isKnown ? fround(value) : Number.NaN
          const errors = [
            tolerance,
            fround(fround(tolerance) * length) * fround(scale),
            fround(fround(tolerance) * score) + fround(1e-19),
          ]
          const error = fround(errors[metric]!)
          singles[at++] = score - error
          singles[at++] = score + error
        }
        return 0
      })
      return (at - (out >>> 2)) / 2
    },

    scoreCodes(
      segments,
      count,
      candidates,
      query,
      dimension,
      metric,
      step,
      queryError,
      queryLength,
      limit,
      above,
      entries,
      bounds,
    ) {
      const numbers = new Int16Array(memory.buffer, query, dimension)
      let found = 0
      for (let row = 0; row < count * SEGMENT_WORDS * 32; row++) {
        const [word, bit] = [row >>> 5, row & 31]
        const address = segmentAt(segments, Math.floor(word / SEGMENT_WORDS))
        const isPresent = words[((address + layout.present) >>> 2) + (word % SEGMENT_WORDS)]! & (1 << bit)
        const isCandidate = candidates === 0 || words[(candidates >>> 2) + word]! & (1 << bit)
        if (!isPresent || !isCandidate) continue
        const codes = words[((address + layout.vectorCodes) >>> 2) + (row % (SEGMENT_WORDS * 32))]!
        const [scale, error, length] = singles.subarray(codes >>> 2) as unknown as [number, number, number]
        const sum = numbers.reduce((sum, n, i) => sum + n * new Int8Array(memory.buffer)[codes + 16 + i]!, 0)
        const cosine = sum * (step * scale)
        const off = error + (1 + error) * queryError
        const [low, high] = [cosine - off, cosine + off]
        const lengths = length * queryLength
        const squares = length * length + queryLength * queryLength
        const [least, most] = [
          [low, high],
          [low * lengths, high * lengths],
          [
            Math.sqrt(Math.max(squares * (1 - 1e-6) - 2 * lengths * high, 0)),
            Math.sqrt(Math.max(squares * (1 + 1e-6) - 2 * lengths * low, 0)),
          ],
        ][metric] as [number, number]
        if (above ? most < limit : least > limit) continue
        words[(entries >>> 2) + found] = row
        singles[(bounds >>> 2) + 2 * found] = least
        singles[(bounds >>> 2) + 2 * found + 1] = most
        found++
      }
      return found
    },

    filterSketches(segments, count, candidates, table, bytes, least, firstBytes, firstLeast, out, found) {
      const all = new Uint8Array(memory.buffer)
      let passed = 0
      for (let word = 0; word < count * SEGMENT_WORDS; word++) {
        const address = segmentAt(segments, Math.floor(word / SEGMENT_WORDS))
        const sketches = words[(address + layout.vectorSketches) >>> 2]!
        const block = sketches + SKETCHES_HEADER_BYTES + (word % SEGMENT_WORDS) * 32 * bytes
        let bits = words[((address + layout.present) >>> 2) + (word % SEGMENT_WORDS)]!
        if (candidates !== 0) bits &= words[(candidates >>> 2) + word]!
        for (let row = 0; row < 32; row++) {
          if ((bits & (1 << row)) === 0) continue
          let sum = 0
          let first = 0
          for (let i = 0; i < bytes; i++) {
            const byte = all[block + 32 * i + row]!
            sum += all[table + 32 * i + (byte & 15)]! + all[table + 32 * i + 16 + (byte >> 4)]!
            if (i < firstBytes) first = sum
          }
          const isNear = sum >= least && (firstBytes === bytes || first >= firstLeast)
          if (!isNear) bits &= ~(1 << row)
          else if (found !== 0) words.set([word * 32 + row, sum], (found >>> 2) + 2 * passed)
          if (isNear) passed++
        }
        words[(out >>> 2) + word] = bits
      }
      return passed
    },
  }
}

/** Sum of products or squared differences in sixteen lanes, then four, each rounded to single precision. */
function comparison(a: Float32Array, b: Float32Array, distance: boolean): number {
  const { fround } = Math
  const term = (i: number): number =>
    distance ? fround(fround(a[i]! - b[i]!) * fround(a[i]! - b[i]!)) : fround(a[i]! * b[i]!)
  const lanes = new Float32Array(16)
  let i = 0
  for (; i + 16 <= b.length; i += 16) for (let lane = 0; lane < 16; lane++) lanes[lane]! += term(i + lane)
  for (; i + 4 <= b.length; i += 4) for (let lane = 0; lane < 4; lane++) lanes[lane]! += term(i + lane)
  const four = Float32Array.from({ length: 4 }, (_, l) =>
    fround(fround(lanes[l]! + lanes[l + 4]!) + fround(lanes[l + 8]! + lanes[l + 12]!)),
  )
  let sum = fround(fround(four[0]! + four[2]!) + fround(four[1]! + four[3]!))
  for (; i < b.length; i++) sum = fround(sum + term(i))
  return sum
}

/** Tries every position of each part. */
function hasParts(text: string, [part, ...others]: string[], isFirst = true): boolean {
  if (part === undefined) return text === ''
  if (others.length === 0) return text.endsWith(part)
  for (let at = 0; at <= (isFirst ? 0 : text.length); at++) {
    if (text.startsWith(part, at) && hasParts(text.slice(at + part.length), others, false)) return true
  }
  return false
}

const lowestBit = (bits: number): number => 31 - Math.clz32(bits & -bits)

function bitCount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555)
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333)
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
