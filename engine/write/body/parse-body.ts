import { isUtf8 } from 'node:buffer'
import type { Attribute } from '../../catalog/attribute.ts'
import type { TypeDescriptor } from '../../catalog/types/descriptor.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { EngineErrors } from '../../base/engine-errors.ts'
import type { KeptDigits } from '../../base/exact-json.ts'
import { isJsonObject } from '../../base/json-object.ts'
import { parseExactJson } from '../../base/json-body.ts'
import { outlineBody } from './body-outline.ts'
import type { BodyParts, SaveRequest } from '../contract/requests.ts'
import { textOf } from './split-body.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'
import type { BodyLimits } from '../contract/write-limits.ts'

/** Elements of the body of a save, in order. */
export interface SaveBody {
  /** False for a single object. */
  readonly many: boolean
  readonly length: number
  /** Returns an element, unchecked. Cheap in ascending order. */
  element(index: number): unknown
}

/**
 * Entities of a body: an object, an array, or `{"__ENTITIES":[…]}`. The parts of a split body are parsed on demand.
 * @param limits undefined: no bounds
 * @throws {EngineErrors.BAD_JSON} with the position
 * @throws {WriteErrors.NOT_ENTITIES} the bound that is exceeded
 * Source: protocol notes, 5.1.
 */
export function openBody(
  { body, parts }: Pick<SaveRequest, 'body' | 'parts'>,
  dataClass: DataClass,
  limits: BodyLimits | undefined,
): SaveBody {
  const parse = parserOf(dataClass)
  if (parts?.many) return new SplitBody(body, parts, parse)
  if (!isUtf8(body)) throw EngineErrors.BAD_JSON('it is not UTF-8')
  if (limits) outlineBody(body, limits)
  const json = parse(textOf(body, 0, body.length))
  if (Array.isArray(json)) return new ParsedBody(true, json)
  if (!isJsonObject(json)) throw WriteErrors.NOT_ENTITIES(describe(json))
  if (!Object.hasOwn(json, '__ENTITIES')) return new ParsedBody(false, [json])
  if (!Array.isArray(json.__ENTITIES))
    throw WriteErrors.NOT_ENTITIES(`an object whose __ENTITIES is ${describe(json.__ENTITIES)}`)
  return new ParsedBody(true, json.__ENTITIES)
}

class ParsedBody implements SaveBody {
  constructor(
    readonly many: boolean,
    private readonly elements: readonly unknown[],
  ) {}

  get length(): number {
    return this.elements.length
  }

  element(index: number): unknown {
    return this.elements[index]
  }
}

/** Parses one part at a time, so that parsed elements become garbage while they are young. */
class SplitBody implements SaveBody {
  readonly many: boolean
  readonly length: number
  /** Index of the first element of each part, then the number of all elements. */
  private readonly firsts: number[] = [0]
  private part = -1
  private elements: readonly unknown[] = []

  constructor(
    private readonly body: Uint8Array,
    private readonly parts: BodyParts,
    private readonly parse: (text: string) => unknown,
  ) {
    const { many, ranges } = parts
    for (let i = 2; i < ranges.length; i += 3) this.firsts.push(this.firsts.at(-1)! + ranges[i]!)
    this.many = many
    this.length = this.firsts.at(-1)!
  }

  element(index: number): unknown {
    const first = this.firsts[this.part]
    if (first === undefined || index < first || index >= this.firsts[this.part + 1]!) this.open(index)
    return this.elements[index - this.firsts[this.part]!]
  }

  private open(index: number): void {
    let part = this.part >= 0 && index >= this.firsts[this.part]! ? this.part : 0
    while (index >= this.firsts[part + 1]!) part++
    const { ranges } = this.parts
    const text = textOf(this.body, ranges[3 * part]!, ranges[3 * part + 1]!)
    this.elements = this.parse(`[${text}]`) as unknown[]
    this.part = part
  }
}

/** Parser of a body, or of a part of it; exact only where needed, because exact parsing is slower. */
export function parserOf(dataClass: DataClass): (text: string) => unknown {
  const digits = keptDigits(dataClass)
  return text => parseExactJson(text, digits)
}

const knownDigits = new WeakMap<DataClass, KeptDigits>()

/** Kinds of numbers that `JSON.parse` would round and that an element of the dataclass may contain. */
export function keptDigits(dataClass: DataClass): KeptDigits {
  let digits = knownDigits.get(dataClass)
  if (digits === undefined) {
    const exact = new Set(dataClass.attributes.map(exactnessOf))
    digits = exact.has('numbers') ? 'numbers' : exact.has('integers') ? 'integers' : 'doubles'
    knownDigits.set(dataClass, digits)
  }
  return digits
}

/** Kind of numbers that `JSON.parse` would round and that may be sent for the attribute, as a value or a key. */
function exactnessOf(attribute: Attribute): TypeDescriptor['exactJson'] {
  const end = attribute.kind === 'alias' ? attribute.target : attribute
  const value = end.kind === 'relatedEntity' ? end.target.key : end
  return value.kind === 'relatedEntities' ? undefined : TYPES[value.type].exactJson
}
