import type { AutoFill, JsonType, ValueAttribute } from '../attribute.ts'
import type { WireOptions } from '../dataclass.ts'
import type { ValueSchemas } from '../../base/json-schema.ts'
import type { Value } from '../value.ts'
import type { ComparisonScalar, OperandSource } from './operand.ts'
import type { TypeParameters } from './parameters.ts'
import type { PlainForm } from './plain-form.ts'

/**
 * Form of the values in columns. It decides how they are read from the JSON that `encode` writes, and compared. For a scalar it
 * corresponds to `comparison`: `text` to `text`, `bit` to `bool`, others to `number`.
 */
export type CellForm =
  /** 1 or 0. */
  | 'bit'
  /** A JSON number. */
  | 'double'
  /** A safe integer, or a bigint of 64 bits: the digits of its JSON, ignoring quotes and a point. */
  | 'integer'
  /** Milliseconds since 1970. */
  | 'date'
  /** A JSON text, folded. */
  | 'text'
  | 'json'
  | 'vector'
  /** Presence of a value only. */
  | 'presence'

/**
 * Kind of aggregated values. `json`: numbers, texts, bools, objects and arrays, which may differ from entity to entity.
 * `opaque`: only their presence is known.
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
  | 'choices'
  | 'multiLine'
  | 'default'
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
    /** Description of the value; undefined for the usual description of JSON in errors. */
    readonly received?: string,
  ) {}
}

/** Everything that depends on the type of an attribute's values. */
export interface TypeDescriptor {
  /** `type` in the catalog. */
  catalogName(attribute: TypeParameters): string
  /** Further members that describe the type in the catalog. */
  catalogOptions?(attribute: TypeParameters): Readonly<Record<string, unknown>>
  readonly options: readonly TypeOption[]
  /** Options that an attribute of the type must have, with the reason. */
  readonly needs?: { readonly [O in TypeOption]?: string }
  readonly autoFill: readonly AutoFill[]
  readonly cell: CellForm
  readonly aggregates: AggregateKind
  /** TypeScript types in plugin code: of values, and of what can be assigned if that is more. */
  readonly code: { readonly value: string; readonly assigned?: string }
  /** Kind of JSON numbers whose digits beyond the precision of a double are significant. */
  readonly exactJson?: 'integers' | 'numbers'
  /** Schemas of the JSON of a value, without the bounds in the model. Not for links. */
  jsonSchemas(attribute: TypeParameters & Partial<Pick<ValueAttribute, 'vector' | 'dataClass'>>): ValueSchemas
  /** Format of the fields of a CSV file. */
  readonly field: 'text' | 'number' | 'date' | 'bool' | 'json'
  /**
   * Converts the JSON of a save, which is not null, to a value.
   * @param trusted true if images and blobs may be data URLs
   * Source: protocol notes, 3.2, column Write.
   */
  convert(json: unknown, attribute: ValueAttribute, trusted: boolean): Value | Mismatch
  /** True if a decoded value, which is not null, is valid for the type; for checks of a store. */
  holds(value: Value | true, attribute: ValueAttribute): boolean
  /** JSON text of a value. Not for links. */
  encode(value: Value, attribute: TypeParameters, wire: WireOptions): string
  /** Form of the values that are copied without being converted; absent if there is none. */
  plainForm?(attribute: TypeParameters, wire: WireOptions): PlainForm | undefined
  /** Reverses `encode`; true for an image or a blob. */
  decode(json: string, attribute: TypeParameters, wire: WireOptions): Value | true
  /** Value in the form for plugin code, independent of the options of the wire form. */
  toCode(value: Value, attribute: TypeParameters): unknown
}

/** JSON texts of totals of integers. */
export interface IntegerTotals {
  /** Text of a sum, or of one value. */
  sum(total: bigint, attribute: TypeParameters): string
  average(total: bigint, count: number, attribute: TypeParameters): string
}

/** Type whose values compare, sort and can be indexed. */
export interface ScalarDescriptor extends TypeDescriptor {
  /** JSON type of the values in comparisons. */
  readonly comparison: JsonType
  /** True if values are written as numbers in filters and addresses. */
  readonly isNumeric: boolean
  /** Types of one family hold the same keys, so that a foreign key of one can refer to a key of another. */
  keyFamily(attribute: TypeParameters): string
  /** Totals of integers; undefined if values are added up and shown as doubles. */
  readonly totals?: IntegerTotals
  /** Description of the operands of a filter. */
  readonly expected: string
  /** Converts a value of an answer, also a sum or an average, to the form for plugin code. */
  codeOfJson(json: string, attribute: TypeParameters, wire: WireOptions): unknown
  /** Text of a key in `__KEY` and in addresses. */
  keyText(value: Value, attribute: TypeParameters, wire: WireOptions): string
  /**
   * Reads an operand of a filter, or a key in an address; undefined if it is not valid. A type that compares as text returns it
   * folded, and is called for patterns too (`8:@`, `begin`, `like`): a pattern that it does not accept is an error.
   * @param isBare true for a word without quotes in the filter
   * Source: protocol notes, 2.7.
   */
  readOperand(source: OperandSource, attribute: TypeParameters, isBare: boolean): ComparisonScalar | undefined
}
