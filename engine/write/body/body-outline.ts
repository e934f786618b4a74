import { EngineErrors } from '../../base/engine-errors.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import { type BodyLimits, TRUSTED_BODY } from '../contract/write-limits.ts'
import type { BodyParts } from '../contract/requests.ts'

/** Positions of the elements of a body, found only by brackets, commas and quotes. */
interface BodyOutline {
  /** `elements`: an array or `{"__ENTITIES":[…]}`. `object`: a single entity. `other`: anything else, or not JSON. */
  readonly kind: 'elements' | 'object' | 'other'
  /** First byte, end and number of elements of each part; a part is a few elements with their commas. */
  readonly parts: readonly number[]
  /** First byte of the array, including its brackets. */
  readonly start: number
  readonly end: number
}

/** Positions of the elements of a valid body; undefined for a small one, which is parsed as a whole. */
export function partsOf(body: Uint8Array): BodyParts | undefined {
  if (body.length < PARTED_BYTES) return undefined
  const { kind, parts } = outlineBody(body, TRUSTED_BODY)
  return kind === 'other' ? undefined : { many: kind === 'elements', ranges: Uint32Array.from(parts) }
}

/** Minimum size of a body that is split; parsing a smaller one takes a few milliseconds. */
const PARTED_BYTES = 256 * 1024

/** Limits of a part: it is parsed in well under a millisecond, unless its only element is large. */
const PART_BYTES = 32 * 1024
const PART_ELEMENTS = 256
/** Bytes between two calls of `between`: some milliseconds. */
const STRIDE = 2 ** 20

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET_OPEN = 0x5b
const BACKSLASH = 0x5c
const BRACKET_CLOSE = 0x5d
const BRACE_OPEN = 0x7b
const BRACE_CLOSE = 0x7d
const ENTITIES = Buffer.from('"__ENTITIES"')

/**
 * Finds the elements of the body of a save and checks all bounds in one pass over its bytes, before anything is parsed. Invalid
 * JSON may pass; parsing the parts finds it.
 * @param between called periodically; may throw to end the work
 * @throws {ProtocolError} the bound that is exceeded
 */
export function outlineBody(body: Uint8Array, limits: BodyLimits, between: () => void = () => {}): BodyOutline {
  return new Outliner(body, limits, between).run()
}

class Outliner {
  private readonly parts: number[] = []
  /** Nesting level of the elements; 0 outside their array. */
  private elementLevel = 0
  private elements = 0
  private attributes = 0
  private names = 0
  private allNames = 0
  private elementStart = 0
  private partStart = 0
  private partElements = 0
  private start = -1
  private end = -1
  /** Number of names in the root, if it is an object. */
  private rootAttributes = 0
  private isMalformed = false

  constructor(
    private readonly body: Uint8Array,
    private readonly limits: BodyLimits,
    private readonly between: () => void,
  ) {}

  run(): BodyOutline {
    const { body, limits } = this
    const root = skipBlanks(body, 0)
    const isObject = body[root] === BRACE_OPEN
    if (!isObject && body[root] !== BRACKET_OPEN) return this.outlineWhole('other')
    let level = 0
    let separators = 0
    /** The last string: before a colon it is a name. */
    let textStart = 0
    let textEnd = 0
    /** True inside the value of `__ENTITIES`. */
    let isNamed = false
    let stride = root + STRIDE
    let i = root
    for (; i < body.length; i++) {
      if (i >= stride) {
        stride = i + STRIDE
        this.between()
      }
      const byte = body[i]!
      if (byte === QUOTE) {
        const start = i
        for (i++; i < body.length && body[i] !== QUOTE; i++) if (body[i] === BACKSLASH) i++
        textStart = start
        textEnd = i + 1
      } else if (byte === COMMA) {
        if (++separators > limits.values) throw EngineErrors.TOO_MANY_VALUES(limits.values)
        if (level === this.elementLevel) this.endElement(i)
        else if (level === this.elementLevel + 1 && this.elementLevel > 0) this.countAttribute()
        else if (level === 1) {
          this.rootAttributes++
          isNamed = false
        }
      } else if (byte === COLON) {
        this.countName()
        if (level === 1 && isObject) isNamed = isEntitiesKey(body, textStart, textEnd)
      } else if (byte === BRACKET_OPEN || byte === BRACE_OPEN) {
        if (++level > limits.depth) throw EngineErrors.TOO_DEEP(limits.depth)
        if (++separators > limits.values) throw EngineErrors.TOO_MANY_VALUES(limits.values)
        const opensElements = isObject ? level === 2 && isNamed : level === 1
        if (opensElements && byte === BRACKET_OPEN) this.open(i, level)
      } else if (byte === BRACKET_CLOSE || byte === BRACE_CLOSE) {
        if (level === this.elementLevel) this.close(i, byte)
        if (--level === 0) break
      }
    }
    if (level !== 0 || skipBlanks(body, i + 1) < body.length || this.isMalformed) return this.outlineWhole('other')
    if (this.end >= 0) {
      // The text around the array is parsed as a whole.
      this.checkSize(body.length - (this.end - this.start))
      return { kind: 'elements', parts: this.parts, start: this.start, end: this.end }
    }
    if (this.rootAttributes >= limits.maxAttributes) throw WriteErrors.TOO_MANY_ATTRIBUTES(limits.maxAttributes)
    return this.outlineWhole('object')
  }

  private outlineWhole(kind: 'object' | 'other'): BodyOutline {
    const { length } = this.body
    if (kind === 'object') this.checkSize(length)
    return { kind, parts: kind === 'object' ? [0, length, 1] : [], start: 0, end: length }
  }

  /** Begins the array of elements; if the name is repeated, the last array is used. */
  private open(at: number, level: number): void {
    this.parts.length = 0
    this.elements = 0
    this.partElements = 0
    this.attributes = 0
    this.names = 0
    this.elementLevel = level
    this.start = at
    this.partStart = at + 1
    this.elementStart = at + 1
  }

  private close(at: number, byte: number): void {
    const isEmpty = this.elements === 0 && skipBlanks(this.body, this.elementStart) >= at
    if (!isEmpty) this.endElement(at)
    if (this.partElements > 0) this.endPart(at)
    this.isMalformed ||= byte !== BRACKET_CLOSE
    this.elementLevel = 0
    this.end = at + 1
  }

  private endElement(at: number): void {
    const { maxEntities } = this.limits
    if (++this.elements > maxEntities) throw WriteErrors.TOO_MANY_ENTITIES(maxEntities)
    this.checkSize(at - this.elementStart)
    this.elementStart = at + 1
    this.attributes = 0
    this.names = 0
    if (++this.partElements >= PART_ELEMENTS || at - this.partStart >= PART_BYTES) this.endPart(at)
  }

  private endPart(at: number): void {
    this.parts.push(this.partStart, at, this.partElements)
    this.partStart = at + 1
    this.partElements = 0
  }

  private countAttribute(): void {
    const { maxAttributes } = this.limits
    if (++this.attributes >= maxAttributes) throw WriteErrors.TOO_MANY_ATTRIBUTES(maxAttributes)
  }

  private countName(): void {
    const { maxNames, transaction } = this.limits
    if (++this.names > maxNames) throw WriteErrors.TOO_MANY_NAMES(maxNames)
    if (transaction && ++this.allNames > transaction.maxNames) {
      throw WriteErrors.TOO_MANY_NAMES_AT_ONCE(transaction.what, transaction.maxNames)
    }
  }

  private checkSize(bytes: number): void {
    const { maxEntityBytes } = this.limits
    if (bytes > maxEntityBytes) throw WriteErrors.ENTITY_TOO_LARGE(maxEntityBytes)
  }
}

/** Index of the first byte from `start` on that is not a blank of JSON. */
function skipBlanks(body: Uint8Array, start: number): number {
  let i = start
  while (body[i] === 0x20 || body[i] === 0x0a || body[i] === 0x0d || body[i] === 0x09) i++
  return i
}

/** Maximum length of `"__ENTITIES"`, however it is escaped: six characters for each of its ten, and the quotes. */
const MAX_KEY_BYTES = 62

function isEntitiesKey(body: Uint8Array, start: number, end: number): boolean {
  const key = body.subarray(start, end)
  if (key.length > MAX_KEY_BYTES) return false
  if (!key.includes(BACKSLASH)) return ENTITIES.equals(key)
  try {
    return JSON.parse(Buffer.from(key).toString()) === '__ENTITIES'
  } catch {
    return false
  }
}
