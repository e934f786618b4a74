import { blob, brief, clock, columnType, date, json, number, text } from './cells.ts'
import { decimalType } from './decimals.ts'
import { choicesOf } from './postgres-types.ts'
import type { Cell, ReadCell, SourceType } from './source.ts'

/** A row of `information_schema.COLUMNS`. */
interface MysqlColumn {
  /** Value of `DATA_TYPE`, such as `int`. */
  readonly type: string
  /** Value of `COLUMN_TYPE`, such as `int(10) unsigned`. */
  readonly declaredType: string
  /** Value of `CHARACTER_MAXIMUM_LENGTH`. */
  readonly length: number
  readonly precision: number
  readonly scale: number
  /** True if a check constraint demands JSON, which is how MariaDB declares the type. */
  readonly isJson: boolean
}

const string = (): SourceType => columnType('string', () => text)
const limitedString = ({ length }: MysqlColumn): SourceType =>
  columnType({ type: 'string', maxLength: length }, () => text)
const bytes = (): SourceType => columnType('blob', () => blob, { isBinary: true })
const point = (): SourceType =>
  columnType('string', () => text, {
    read: quotedName => `ST_AsText(${quotedName})`,
    note: 'is a string with the text (WKT) of its geometry',
  })
/** @param unsignedType type that can hold all unsigned values */
const integer =
  (signedType: string, unsignedType: string) =>
  ({ declaredType }: MysqlColumn): SourceType =>
    columnType(declaredType.includes('unsigned') ? unsignedType : signedType, number)

const TYPES: Readonly<Record<string, (column: MysqlColumn) => SourceType>> = {
  tinyint: column =>
    column.declaredType === 'tinyint(1)'
      ? columnType('bool', bool, {
          note: 'is tinyint(1), treated as bool: for values other than 0 and 1, make it a "byte"',
        })
      : integer('byte', 'word')(column),
  smallint: integer('word', 'long'),
  mediumint: integer('long', 'long'),
  int: integer('long', 'long64'),
  bigint: integer('long64', 'long64'),
  year: () => columnType('word', number),
  float: () => columnType('number', number),
  double: () => columnType('number', number),
  decimal: ({ precision, scale }) =>
    decimalType(precision, scale, quotedName => [
      // The text has all decimal places of the type; trailing zeros do not count.
      scale === 0
        ? `MAX(IF(${quotedName} IS NULL, NULL, 0))`
        : `MAX(LENGTH(TRIM(TRAILING '0' FROM SUBSTRING_INDEX(CAST(${quotedName} AS CHAR), '.', -1))))`,
      `MAX(LENGTH(TRUNCATE(ABS(${quotedName}), 0)))`,
    ]),
  bit: ({ precision }) =>
    precision === 1
      ? columnType('bool', bool, { read: quotedName => `${quotedName} + 0` })
      : columnType('long64', number, { read: quotedName => `${quotedName} + 0` }),
  char: limitedString,
  varchar: limitedString,
  tinytext: string,
  text: string,
  mediumtext: string,
  longtext: ({ isJson }) => (isJson ? columnType('object', json) : string()),
  enum: ({ declaredType }) => columnType({ type: 'string', ...choicesOf(labelsOf(declaredType)) }, () => text),
  set: string,
  json: () => columnType('object', json),
  uuid: () => columnType('uuid', () => text),
  inet4: string,
  inet6: string,
  date: () => columnType({ type: 'date', simpleDate: true }, date),
  datetime: () => columnType('date', date),
  timestamp: () => columnType('date', date),
  time: () => columnType('duration', clock),
  binary: ({ length }) =>
    length === 16
      ? columnType('uuid', () => text, {
          read: quotedName => `HEX(${quotedName})`,
          note: 'is binary(16), treated as a uuid',
        })
      : bytes(),
  varbinary: bytes,
  tinyblob: bytes,
  blob: bytes,
  mediumblob: bytes,
  longblob: bytes,
  ...Object.fromEntries(
    [
      'geometry',
      'point',
      'linestring',
      'polygon',
      'multipoint',
      'multilinestring',
      'multipolygon',
      'geometrycollection',
      'geomcollection',
    ].map(name => [name, point]),
  ),
}

const bool = (type: string): ReadCell =>
  type === 'bool'
    ? value => {
        if (value !== '0' && value !== '1') throw new Error(`${brief(value as Cell)} is neither 0 nor 1`)
        return value === '1' ? 'true' : 'false'
      }
    : number(type)

export function mysqlType(column: MysqlColumn): SourceType {
  if (Object.hasOwn(TYPES, column.type)) return TYPES[column.type]!(column)
  return columnType('string', () => text, {
    read: quotedName => `CAST(${quotedName} AS CHAR)`,
    note: `is a string with the text of its ${column.type}`,
  })
}

/** Values of `enum('a','b''c')`. */
const labelsOf = (declaredType: string): string[] =>
  [...declaredType.matchAll(/'((?:[^']|'')*)'/g)].map(([, label]) => label!.replaceAll("''", "'"))
