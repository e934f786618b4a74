const ZERO = 0x30
const SPACE = 0x20
/** Source: FNV-1a, 32 bits. */
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Identifies a version of an entity within its dataclass: `3-26673051853345`, the stamp and a 64-bit digest of key, timestamp
 * and stamp. The stamp alone is not enough: it restarts when an entity is deleted and created again.
 * @param bytes a row, or the JSON of an entity, indented or not
 * @param start of its `"__KEY":…,"__TIMESTAMP":…,"__STAMP":n`
 * @param end position after the last digit of the stamp
 */
export function versionOf(bytes: Uint8Array, start: number, end: number): string {
  let first = FNV_OFFSET
  let second = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    // Whitespace depends on how the JSON is formatted.
    if (byte <= SPACE) continue
    first = Math.imul(first ^ byte, FNV_PRIME)
    second = Math.imul(second + byte, FNV_PRIME) ^ (second >>> 15)
  }
  let stampStart = end
  while (isDigit(bytes[stampStart - 1])) stampStart--
  let stamp = 0
  for (let at = stampStart; at < end; at++) stamp = stamp * 10 + bytes[at]! - ZERO
  // Decimal, because other bases take several times as long.
  return `${stamp}-${first >>> 0}${second >>> 0}`
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte < ZERO + 10
