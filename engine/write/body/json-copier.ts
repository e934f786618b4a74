import type { RowCopier } from './row-copier.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const BACKSLASH = 0x5c
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
const BLANK = 0x20
const NULL = Buffer.from('null')

/**
 * Encodes JSON objects from their bytes, if they have only names of attributes, each once, with values that are not nested. It is as
 * strict as `JSON.parse`; whatever it does not accept has to be parsed.
 */
export class JsonCopier {
  /** Names with their quotes, by slot. */
  private readonly names = new Map<number, Buffer>()
  /** Slots of the members of the previous object, in their order. */
  private readonly order: number[] = []
  /** Position after the name that was read last. */
  private nameEnd = 0

  /** @param parse parses JSON that is not an object */
  constructor(
    private readonly copier: RowCopier,
    private readonly parse: (text: string) => unknown,
  ) {}

  /**
   * Encodes the object at `start`, which the end of the text or a comma follows.
   * @param end end of the text, which is UTF-8
   * @returns position after the object and the blanks after it; -1 if it has not been encoded
   */
  copy(source: Buffer, start: number, end: number, isLast: boolean): number {
    const { copier } = this
    let at = skipBlanks(source, start)
    if (source[at] !== BRACE_OPEN) return -1
    copier.begin(source)
    at = skipBlanks(source, at + 1)
    if (source[at] === BRACE_CLOSE) at++
    else at = this.readMembers(source, at, end)
    if (at < 0) return -1
    at = skipBlanks(source, at)
    if (isLast ? at !== end : at >= end || source[at] !== COMMA) return -1
    return copier.finish() ? at : -1
  }

  /** @returns position after the brace that ends the object; -1 if a member cannot be copied */
  private readMembers(source: Buffer, start: number, end: number): number {
    const { values } = this.copier
    let at = start
    for (let member = 0; ; member++) {
      const slot = this.slotAt(source, at, end, member)
      if (slot < 0 || !values.isAbsent(slot)) return -1
      at = skipBlanks(source, this.nameEnd)
      if (source[at] !== COLON) return -1
      at = this.readValue(source, skipBlanks(source, at + 1), end, slot)
      if (at < 0) return -1
      at = skipBlanks(source, at)
      const byte = source[at]
      if (byte === BRACE_CLOSE) return at + 1
      if (byte !== COMMA) return -1
      at = skipBlanks(source, at + 1)
    }
  }

  /** Slot of the name at a position; -1 if it is not the plain name of an attribute. */
  private slotAt(source: Buffer, at: number, end: number, member: number): number {
    // Most objects have the same names in the same order.
    const expectedSlot = this.order[member]
    const expectedName = expectedSlot === undefined ? undefined : this.names.get(expectedSlot)!
    if (expectedName && isAt(source, at, expectedName)) {
      this.nameEnd = at + expectedName.length
      return expectedSlot!
    }
    const close = source[at] === QUOTE ? textEnd(source, at, end) : -1
    if (close < 0) return -1
    const name = source.toString('utf8', at + 1, close)
    const slot = name.startsWith('__') ? undefined : this.copier.slotOf(name)
    if (slot === undefined || name.includes('\\')) return -1
    this.nameEnd = close + 1
    this.order[member] = slot
    this.names.set(slot, Buffer.from(source.subarray(at, close + 1)))
    return slot
  }

  /** @returns position after the value; -1 if it cannot be copied */
  private readValue(source: Buffer, at: number, end: number, slot: number): number {
    const { values } = this.copier
    const first = source[at]!
    if (first === QUOTE) {
      const close = textEnd(source, at, end)
      if (close < 0) return -1
      if (this.copier.formOf(slot)?.isText && values.takeBytes(slot, at + 1, close)) return close + 1
      return this.convert(source, at, close + 1, slot)
    }
    const valueEnd = first === MINUS || isDigit(first) ? numberEnd(source, at, end) : wordEnd(source, at, end)
    if (valueEnd === at) return -1
    if (isAt(source, at, NULL) && valueEnd === at + NULL.length) {
      values.takeNull(slot)
      return valueEnd
    }
    if (this.copier.formOf(slot)?.isText === false && values.takeBytes(slot, at, valueEnd)) return valueEnd
    return this.convert(source, at, valueEnd, slot)
  }

  private convert(source: Buffer, start: number, end: number, slot: number): number {
    let json: unknown
    try {
      json = this.parse(source.toString('utf8', start, end))
    } catch {
      // The parser of the whole text reports the error.
      return -1
    }
    return this.copier.values.takeJson(slot, json) ? end : -1
  }
}

/** Position after a valid element of JSON: that of a comma, or `end`. */
export function skipElement(source: Uint8Array, start: number, end: number): number {
  let level = 0
  for (let at = start; at < end; at++) {
    const byte = source[at]!
    if (byte === QUOTE) for (at++; source[at] !== QUOTE; at++) at += source[at] === BACKSLASH ? 1 : 0
    else if (byte === COMMA && level === 0) return at
    // Both brackets differ from their braces in this bit only.
    else if ((byte | 0x20) === BRACE_OPEN) level++
    else if ((byte | 0x20) === BRACE_CLOSE) level--
  }
  return end
}

function skipBlanks(source: Uint8Array, start: number): number {
  let at = start
  while (source[at]! <= BLANK && isBlank(source[at]!)) at++
  return at
}

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE

/** Position of the quote that ends a text; -1 if there is none, or a control character before it. */
function textEnd(source: Uint8Array, start: number, end: number): number {
  for (let at = start + 1; at < end; at++) {
    const byte = source[at]!
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
    else if (byte < BLANK) return -1
  }
  return -1
}

/** Position after all characters that numbers have. */
function numberEnd(source: Uint8Array, start: number, end: number): number {
  let at = start
  for (; at < end; at++) {
    const byte = source[at]!
    const isSign = byte === MINUS || byte === 0x2b || byte === 0x2e
    if (!isDigit(byte) && !isSign && byte !== 0x65 && byte !== 0x45) break
  }
  return at
}

/** Position after small letters. */
function wordEnd(source: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && source[at]! >= 0x61 && source[at]! <= 0x7a) at++
  return at
}

function isAt(source: Uint8Array, start: number, bytes: Uint8Array): boolean {
  for (let i = 0; i < bytes.length; i++) if (source[start + i] !== bytes[i]) return false
  return true
}
