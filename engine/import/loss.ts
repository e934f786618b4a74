import { longNumberIn } from '../base/exact-json.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import { isDouble } from './double-digits.ts'
import { cellText } from './table-file.ts'

/** Clause that says what part of the values of a column an attribute loses; undefined if it loses nothing. */
export function lossOf({ type }: StorageModel, values: readonly unknown[], isTyped: boolean): string | undefined {
  for (const value of values) {
    if (value === null || value === undefined) continue
    const loss = lossIn(type, cellText(value))
    if (loss !== undefined) return loss
    if (isTyped && type === 'string' && typeof value !== 'string')
      return `values other than texts are kept as texts, as ${cellText(value)}`
  }
  return undefined
}

/** Clause that says what part of a text a type loses; undefined if it loses nothing. */
export const lossIn = (type: StorageModel['type'], text: string): string | undefined => LOSSES[type]?.(text)

const BEYOND_MILLISECONDS = /:\d\d[.,]\d{3}0*[1-9]/

const time = (text: string): string | undefined =>
  BEYOND_MILLISECONDS.test(text) ? `seconds have three places, not as many as ${text}` : undefined

const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const LOSSES: { readonly [T in StorageModel['type']]?: (text: string) => string | undefined } = {
  number: text =>
    NUMBER.test(text) && !isDouble(text) ? `numbers are doubles, which have fewer digits than ${text}` : undefined,
  float: text =>
    NUMBER.test(text) && !isFloat(Number(text)) ? `numbers of this type have 32 bits, fewer than ${text}` : undefined,
  date: time,
  duration: time,
  object(text) {
    const number = longNumberIn(text)
    return number && `numbers in objects are doubles, which have fewer digits than ${number}`
  },
  vector(text) {
    const list: unknown = JSON.parse(text)
    const number = Array.isArray(list) ? list.find(each => !isFloat(each)) : undefined
    return number === undefined ? undefined : `numbers of vectors have 32 bits, fewer than ${number}`
  },
}

/** True for a number that a Float32 holds exactly, or that is the shortest decimal of a Float32. */
const isFloat = (number: number): boolean =>
  Math.fround(number) === number || Number(Math.fround(number).toPrecision(7)) === number
