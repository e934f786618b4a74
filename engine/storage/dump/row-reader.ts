import { isJsonObject } from '../../base/json-object.ts'
import { parseExact } from '../../base/exact-json.ts'
import { ProtocolError } from '../../base/errors.ts'
import { suggestion } from '../../base/suggestion.ts'
import { parseDate } from '../../base/time/read-date.ts'
import { isBinary, type RowAttribute, type StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import { convertValue } from '../../write/value/convert.ts'
import { keptDigits } from '../../write/body/parse-body.ts'
import { DumpError, HEAD } from './dump-form.ts'

/** An entity of a dump, until the next one is read. */
export interface DumpRow {
  /** Values of all storage attributes. */
  readonly values: Map<RowAttribute, Value>
  readonly stamp: number
  readonly globalStamp: number | undefined
  readonly timestamp: string
}

interface RowReaderOptions {
  readonly dataClass: DataClass
  /** Attribute names in rows of the dump, mapped to current names. */
  readonly formerNames: ReadonlyMap<string, string>
  /** Names in rows of the dump that are left out. */
  readonly leftOut: ReadonlySet<string>
  /** Reads an image or a blob of the dump. @throws {DumpError} */
  readonly blobOf: (reference: object) => BinaryValue
  /** `__TIMESTAMP` of entities that have none. */
  readonly now: string
}

const MAX_STAMP = 0xffff_ffff
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Reads the lines of a dataclass. Values are converted to the types of the attributes. They are not checked against the limits of the
 * model, which may be newer than the values.
 */
export class DumpRowReader {
  private readonly parse: (text: string) => unknown
  private readonly attributes: readonly StorageAttribute[]
  private readonly byName: ReadonlyMap<string, StorageAttribute>
  /** Values of the last row. A map for each row would keep the garbage collector busy. */
  private readonly values = new Map<RowAttribute, Value>()

  constructor(private readonly options: RowReaderOptions) {
    const { dataClass, formerNames } = options
    const digits = keptDigits(dataClass)
    this.parse = text => parseExact(text, digits)
    this.attributes = dataClass.attributes.filter(attribute => attribute.kind === 'storage')
    const entries = this.attributes.map(attribute => [attribute.name, attribute] as const)
    this.byName = new Map([
      ...entries,
      ...[...formerNames].map(([former, name]) => [former, this.attributes.find(each => each.name === name)!] as const),
    ])
  }

  /** @throws {DumpError} */
  read(text: string): DumpRow {
    let json: unknown
    try {
      json = this.parse(text)
    } catch (error) {
      throw new DumpError((error as Error).message)
    }
    if (!isJsonObject(json)) throw new DumpError('a line is a JSON object')
    const { values } = this
    const { dataClass, leftOut, now } = this.options
    for (const attribute of this.attributes) values.set(attribute, null)
    let stamp = 1
    let globalStamp: number | undefined
    let timestamp = now
    for (const name in json) {
      const value = json[name]
      const attribute = this.byName.get(name)
      if (attribute) values.set(attribute, this.convert(attribute, value))
      else if (name === HEAD.stamp) stamp = integer(name, value, MAX_STAMP)
      else if (name === HEAD.globalStamp) globalStamp = integer(name, value, Number.MAX_SAFE_INTEGER)
      else if (name === HEAD.timestamp) timestamp = time(value)
      else if (!leftOut.has(name)) throw this.unknown(name)
    }
    if (values.get(dataClass.key) === null) throw new DumpError(`${dataClass.key.name}: an entity needs a key`)
    return { values, stamp, globalStamp, timestamp }
  }

  private convert(attribute: StorageAttribute, json: unknown): Value {
    if (isBinary(attribute.type) && typeof json === 'object' && json !== null) return this.options.blobOf(json)
    const value = convertValue(attribute, json, true)
    if (value instanceof ProtocolError) throw new DumpError(value.message)
    return value
  }

  private unknown(name: string): DumpError {
    const { dataClass } = this.options
    const attribute = dataClass.attributesByName.get(name)
    if (attribute?.kind === 'relatedEntity')
      return new DumpError(`${name} is a relation; a dump has its foreign key, ${attribute.foreignKey.name}`)
    if (attribute) return new DumpError(`${name} is not stored; leave it out`)
    return new DumpError(`there is no attribute ${name} in ${dataClass.name}${suggestion(name, this.byName.keys())}`)
  }
}

function integer(name: string, value: unknown, maximum: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= maximum) return value
  throw new DumpError(`${name} is a whole number from 1 to ${maximum}`)
}

function time(value: unknown): string {
  if (typeof value === 'string' && TIMESTAMP.test(value) && parseDate(value) !== undefined) return value
  throw new DumpError(`${HEAD.timestamp} is a time such as "2026-01-31T10:00:00.000Z"`)
}
