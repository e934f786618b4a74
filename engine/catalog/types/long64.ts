import { schemas } from '../../base/json-schema.ts'
import { Mismatch, type ScalarDescriptor } from './descriptor.ts'
import { INTEGER_TOTALS, NUMERIC, readLongNumber } from './number.ts'
import { MAX_SAVED, readExactNumber } from './operand.ts'
import { plainInteger } from './plain-form.ts'

/** Integers of 64 bits: numbers where these are exact, else bigints. */
export const long64: ScalarDescriptor = {
  ...NUMERIC,
  catalogName: () => 'long64',
  autoFill: ['increment'],
  cell: 'integer',
  exactJson: 'integers',
  code: { value: 'number | bigint' },
  keyFamily: () => 'integer',
  jsonSchemas: () => schemas({ type: 'integer', format: 'int64' }, { type: ['integer', 'string'], format: 'int64' }),
  convert: json => readLong64(json) ?? new Mismatch('a whole number from -2^63 to 2^63 - 1 (as a text beyond 2^53)'),
  holds: value => typeof value === 'bigint' || Number.isInteger(value),
  totals: INTEGER_TOTALS,
  codeOfJson: readLongNumber,
  plainForm: () => plainInteger(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  decode: readLongNumber,
  readOperand: readExactNumber,
}

const LONG64_MIN = -(2n ** 63n)
const LONG64_MAX = 2n ** 63n - 1n

function readLong64(json: unknown): number | bigint | undefined {
  let integer: bigint
  if (typeof json === 'bigint') integer = json
  else if (typeof json === 'string' && json.length <= MAX_SAVED && /^\s*[+-]?\d{1,25}\s*$/.test(json))
    integer = BigInt(json.trim().replace(/^\+/, ''))
  else if (typeof json === 'number' && Number.isInteger(json)) integer = BigInt(json)
  else return undefined
  if (integer < LONG64_MIN || integer > LONG64_MAX) return undefined
  const number = Number(integer)
  return Number.isSafeInteger(number) ? number : integer
}
