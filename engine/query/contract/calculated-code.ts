import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import type { WireOptions } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { Suspended } from '../../data/suspended.ts'
import { encodePlain } from '../../row-format/wire-value.ts'

/**
 * Code of a calculated attribute, in the threads that may run it. In other threads, a query that needs it ends with
 * {@link Suspended} before it has read a row, and is run again in a thread with the code.
 * Source: protocol notes, 3.8.
 */
export interface CalculatedCode {
  /**
   * Value for an entity, which stays the same until the thread's current call ends; null for an unsaved one that the code does not
   * know. @throws the error of the code
   */
  value(rowId: number): Value
  /** Query that replaces a condition; undefined to compute and compare every value. */
  readonly query?: (operator: string, value: unknown) => QueryText | undefined
  /** Order that replaces an order by the attribute; undefined to compute and compare every value. */
  readonly orderBy?: (descending: boolean) => HandlerText | undefined
}

/** A text returned by code. */
export interface HandlerText {
  readonly text: string
  /** Creates the error for a text that cannot be used, which is a fault of the code. */
  readonly fault: (problem: string, cause?: ProtocolError) => Error
}

/** A query returned by code: its text, and the values of its placeholders in the form of `$params`. */
export interface QueryText extends HandlerText {
  readonly parameters: unknown
}

const codes = new WeakMap<CalculatedAttribute, CalculatedCode>()
let someDecide = false

export function attachCode(attribute: CalculatedAttribute, code: CalculatedCode): void {
  codes.set(attribute, code)
  someDecide ||= code.query !== undefined || code.orderBy !== undefined
}

/** True if code in this thread may decide the meaning of queries, which then must not be cached. */
export const codeDecides = (): boolean => someDecide

/** @throws {Suspended} */
export function codeOf(attribute: CalculatedAttribute): CalculatedCode {
  const code = codes.get(attribute)
  if (!code) throw new Suspended({ kind: 'code' })
  return code
}

/** JSON text of the value for an entity, as sent. */
export const calculatedText = (attribute: CalculatedAttribute, rowId: number, wire: WireOptions): string =>
  encodePlain(attribute, codeOf(attribute).value(rowId), wire)
