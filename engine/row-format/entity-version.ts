const QUOTE = 0x22
const BACKSLASH = 0x5c
const ZERO = 0x30
const KEY_NAME = '"__KEY":'
/** `2026-01-31T10:00:00.000Z` */
const TIMESTAMP_BYTES = 24
/** Source: FNV-1a, 32 bits. */
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/**
 * Identifies a version of an entity within its dataclass: `3-13357025635926672`, the stamp, and digests of 31 bits of key and
 * timestamp. The stamp alone is not enough: it restarts when an entity is deleted and created again.
 * @param bytes a row, or the JSON of an entity, indented or not
 * @param start of its `"__KEY":"…","__TIMESTAMP":"…","__STAMP":n`
 */
export function versionOf(bytes: Uint8Array, start: number): string {
  const key = afterQuote(bytes, start + KEY_NAME.length)
  let keyEnd = key
  for (; keyEnd < bytes.length && bytes[keyEnd] !== QUOTE; keyEnd++) if (bytes[keyEnd] === BACKSLASH) keyEnd++
  const time = afterQuote(bytes, afterQuote(bytes, afterQuote(bytes, keyEnd + 1)))
  const timeEnd = time + TIMESTAMP_BYTES
  let at = afterQuote(bytes, afterQuote(bytes, timeEnd + 1))
  while (at < bytes.length && !isDigit(bytes[at]!)) at++
  let stamp = 0
  for (; at < bytes.length && isDigit(bytes[at]!); at++) stamp = stamp * 10 + bytes[at]! - ZERO
  // Decimal numbers of at most 31 bits each: any other text takes several times as long to build.
  return `${stamp}-${digest(bytes, key, keyEnd)}${digest(bytes, time, timeEnd)}`
}

/** Position after the next quote. */
function afterQuote(bytes: Uint8Array, start: number): number {
  let at = start
  while (at < bytes.length && bytes[at] !== QUOTE) at++
  return at + 1
}

const isDigit = (byte: number): boolean => byte >= ZERO && byte < ZERO + 10

function digest(bytes: Uint8Array, start: number, end: number): number {
  let hash = FNV_OFFSET
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, FNV_PRIME)
  return hash >>> 1
}
