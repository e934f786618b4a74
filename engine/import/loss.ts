import { longNumberIn } from '../base/exact-json.ts'
import type { StorageModel } from '../catalog/model-schema.ts'
import { cellText } from './table-file.ts'

/** Clause that says what an attribute does not keep of the values of a column; undefined if it keeps all of them. */
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

/** Clause that says what a type does not keep of a text; undefined if it keeps all. */
export const lossIn = (type: StorageModel['type'], text: string): string | undefined => LOSSES[type]?.(text)

const BEYOND_MILLISECONDS = /:\d\d[.,]\d{3}0*[1-9]/

const time = (text: string): string | undefined =>
  BEYOND_MILLISECONDS.test(text) ? `seconds have three places, not as many as ${text}` : undefined

const LOSSES: { readonly [T in StorageModel['type']]?: (text: string) => string | undefined } = {
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

/** True for the shortest decimal of a number of 32 bits, and for what it equals. */
const isFloat = (number: number): boolean =>
  Math.fround(number) === number || Number(Math.fround(number).toPrecision(7)) === number
