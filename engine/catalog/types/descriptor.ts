import type { JsonType, ValueAttribute } from '../attribute.ts'
import type { WireOptions } from '../dataclass.ts'
import type { ValueSchemas } from '../../base/json-schema.ts'
import type { Value } from '../value.ts'
import type { ComparisonScalar, OperandSource } from './operand.ts'
import type { TypeParameters } from './parameters.ts'

/**
 * Form of the values in columns, which decides how they are read from the JSON that `encode` writes, and compared. Of a scalar
 * it fits `comparison`: `text` to `text`, `bit` to `bool`, others to `number`.
 */
export type CellForm =
  /** 1 or 0. */
  | 'bit'
  /** A JSON number. */
  | 'double'
  /** A safe integer, or a bigint of 64 bits: the digits of its JSON, whatever stands between them. */
  | 'integer'
  /** Milliseconds since 1970. */
  | 'date'
  /** A JSON text, folded. */
  | 'text'
  | 'json'
  | 'vector'
  /** Only whether there is a value. */
  | 'presence'

/**
 * Kind of aggregated values. `json`: numbers, texts, bools, objects and arrays, whatever each entity has. `opaque`: all that
 * is known of them is whether they are there.
 */
export type AggregateKind = 'number' | 'date' | 'text' | 'bool' | 'json' | 'opaque'

/** Options of the model file that fit only some types. */
export type TypeOption =
  | 'indexed'
  | 'unique'
  | 'minValue'
  | 'maxValue'
  | 'minLength'
  | 'maxLength'
  | 'pattern'
  | 'multiLine'
  | 'simpleDate'
  | 'scale'
  | 'asText'
  | 'properties'
  | 'dimension'
  | 'metric'
  | 'hnsw'

/** A value that does not fit its type. */
export class Mismatch {
  constructor(
    readonly expected: string,
    /** Description of the value; undefined: as errors describe any JSON. */
    readonly received?: string,
  ) {}
}

/** Everything that depends on the type of an attribute's values. */
export interface TypeDescriptor {
  /** `type` in the catalog. */
  catalogName(attribute: TypeParameters): string
  /** More of the type in the catalog. */
  catalogOptions?(attribute: TypeParameters): Readonly<Record<string, unknown>>
  readonly options: readonly TypeOption[]
  /** Options that an attribute of the type must have, with the reason. */
  readonly needs?: { readonly [O in TypeOption]?: string }
  /** How a missing value can be made for a new entity. */
  readonly autoFill: readonly ('increment' | 'uuid')[]
  readonly cell: CellForm
  readonly aggregates: AggregateKind
  /** TypeScript type of the values in plugin code, and of more that can be assigned. */
  readonly code: { readonly value: string; readonly assigned?: string }
  /** Numbers of JSON whose digits count beyond what a double has. */
  readonly exactJson?: 'integers' | 'numbers'
  /** Schemas of the JSON of a value, without the bounds that the model gives it. Not for links. */
  jsonSchemas(attribute: TypeParameters & Partial<Pick<ValueAttribute, 'vector'>>): ValueSchemas
  /** How the fields of a CSV file are read. */
  readonly field: 'text' | 'number' | 'date' | 'bool' | 'json'
  /**
   * A value from the JSON of a save, which is not null.
   * @param trusted images and blobs may be data URLs
   * Source: protocol notes, 3.2, column Write.
   */
  convert(json: unknown, attribute: ValueAttribute, trusted: boolean): Value | Mismatch
  /** Whether a decoded value, which is not null, is one of the type: for checks of a store. */
  holds(value: Value | true, attribute: ValueAttribute): boolean
  /** JSON text of a value. Not for links. */
  encode(value: Value, attribute: TypeParameters, wire: WireOptions): string
  /** The value again; of an image or a blob true. */
  decode(json: string, attribute: TypeParameters, wire: WireOptions): Value | true
  /** A value as plugin code has it, whatever the options of the wire form. */
  toCode(value: Value, attribute: TypeParameters): unknown
}

/** JSON texts of what integers add up to. */
interface IntegerTotals {
  /** Text of a sum, or of one value. */
  sum(total: bigint, attribute: TypeParameters): string
  average(total: bigint, count: number, attribute: TypeParameters): string
}

/** Type whose values compare, sort and can be indexed. */
export interface ScalarDescriptor extends TypeDescriptor {
  /** JSON type of the values in comparisons. */
  readonly comparison: JsonType
  /** Written as a number in filters and addresses. */
  readonly isNumeric: boolean
  /** Two types of one family hold the same keys, so that a foreign key of one can name an entity by a key of the other. */
  keyFamily(attribute: TypeParameters): string
  /** How integers are added up; undefined: values are added up as doubles, and shown as these. */
  readonly totals?: IntegerTotals
  /** Description of the operands of a filter. */
  readonly expected: string
  /** A value of an answer as plugin code has it, also a sum or an average. */
  codeOfJson(json: string, attribute: TypeParameters, wire: WireOptions): unknown
  /** The text of a key, as `__KEY` and addresses have it. */
  keyText(value: Value, attribute: TypeParameters, wire: WireOptions): string
  /**
   * An operand of a filter, or a key in an address; undefined when it is none. A type that compares as text returns it folded,
   * and is asked for patterns too (`8:@`, `begin`, `like`): those that it refuses are errors.
   * @param isBare the word stands in the filter without quotes
   * Source: protocol notes, 2.7.
   */
  readOperand(source: OperandSource, attribute: TypeParameters, isBare: boolean): ComparisonScalar | undefined
}

/** Type that values inside of objects can be declared to have. */
export interface PropertyDescriptor extends ScalarDescriptor {
  /** JSON type of the values there. Texts are compared with the operand as it stands, which `readOperand` does not see. */
  readonly inObject: JsonType
}
