import { isUtf8 } from 'node:buffer'
import type { DataClass } from '../catalog/dataclass.ts'
import { EngineErrors } from '../engine-errors.ts'
import { parseJson } from '../json-body.ts'
import { describe, WriteErrors } from './write-errors.ts'

export interface SaveBody {
  /** False for a single object. */
  many: boolean
  elements: readonly unknown[]
}

export const isJsonObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

/**
 * The entities of a body: an object, an array, or `{"__ENTITIES":[…]}`. Elements are not looked at.
 * @throws {EngineErrors.BAD_JSON} with the position
 * @throws {WriteErrors.NOT_ENTITIES}
 * Source: protocol notes, 5.1.
 */
export function parseBody(body: Uint8Array, dataClass: DataClass): SaveBody {
  if (!isUtf8(body)) throw EngineErrors.BAD_JSON('it is not UTF-8')
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
  let json = parseJson(text)
  const long64 = dataClass.attributes.filter(attribute => attribute.kind === 'storage' && attribute.type === 'long64')
  // Looking for one in a large body takes half as long as parsing it.
  if (long64.length > 0 && LONG_INTEGER.test(text)) {
    json = parseJson(quoteLongIntegers(text, new Set(long64.map(({ name }) => name))))
  }
  if (Array.isArray(json)) return { many: true, elements: json }
  if (!isJsonObject(json)) throw WriteErrors.NOT_ENTITIES(describe(json))
  if (!Object.hasOwn(json, '__ENTITIES')) return { many: false, elements: [json] }
  if (!Array.isArray(json.__ENTITIES))
    throw WriteErrors.NOT_ENTITIES(`an object whose __ENTITIES is ${describe(json.__ENTITIES)}`)
  return { many: true, elements: json.__ENTITIES }
}

const LONG_INTEGER = /\d{16}/

/**
 * The same JSON with the integers of the attributes `names` as texts: `JSON.parse` would round them beyond 2^53, a text is
 * read exactly. `json` is known to be valid. A loop, because an expression overflows its stack in a text of some megabytes.
 */
function quoteLongIntegers(json: string, names: ReadonlySet<string>): string {
  let quoted = ''
  let done = 0
  let text = ''
  let isLongInteger = false
  for (let i = 0; i < json.length; i++) {
    const character = json[i]!
    if (character === '"') {
      const start = i
      for (i = json.indexOf('"', i + 1); isEscaped(json, i); i = json.indexOf('"', i + 1));
      text = i - start > 400 ? '' : json.slice(start, i + 1)
      isLongInteger = false
    } else if (character === ':') isLongInteger = text !== '' && names.has(JSON.parse(text) as string)
    else if ((character >= '0' && character <= '9') || character === '-') {
      const [number] = NUMBER.exec(json.slice(i, i + 400))!
      if (isLongInteger && INTEGER.test(number)) {
        quoted += `${json.slice(done, i)}"${number}"`
        done = i + number.length
      }
      i += number.length - 1
    } else if (character === '{' || character === '[') isLongInteger = false
  }
  return quoted + json.slice(done)
}

/** True when an odd number of backslashes stands before the quote at `at`. */
function isEscaped(json: string, at: number): boolean {
  let backslashes = 0
  while (json[at - 1 - backslashes] === '\\') backslashes++
  return backslashes % 2 === 1
}

const NUMBER = /^[-+.\deE]+/
const INTEGER = /^-?\d{16,}$/
