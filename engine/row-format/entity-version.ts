const ZERO = 0x30
const SPACE = 0x20
/** Source: FNV-1a, of 32 bits. */
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Text that tells a version of an entity from all others of its dataclass: `3-26673051853345`, the stamp and 64 bits of a digest of
 * key, timestamp and stamp. The stamp alone
 * begins again when an entity is deleted and created once more.
 * @param bytes a row, or the JSON of an entity, indented or not
 * @param start of its `"__KEY":…,"__TIMESTAMP":…,"__STAMP":n`
 * @param end behind the last digit of the stamp
 */
export function versionOf(bytes: Uint8Array, start: number, end: number): string {
  let first = FNV_OFFSET
  let second = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!
    // Blanks and line ends depend on how the JSON is written.
    if (byte <= SPACE) continue
    first = Math.imul(first ^ byte, FNV_PRIME)
    second = Math.imul(second + byte, FNV_PRIME) ^ (second >>> 15)
  }
  let stampStart = end
  while (isDigit(bytes[stampStart - 1])) stampStart--
  let stamp = 0
  for (let at = stampStart; at < end; at++) stamp = stamp * 10 + bytes[at]! - ZERO
  // Decimal: other bases take several times as long.
  return `${stamp}-${first >>> 0}${second >>> 0}`
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte < ZERO + 10
