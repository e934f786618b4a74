import type { CalculatedAttribute } from '../../catalog/attribute.ts'
import type { WireOptions } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { RequiresPluginCode } from '../../data/requires-plugin-code.ts'
import { encodePlain } from '../../row-format/wire-value.ts'

/**
 * The code behind calculated attributes, in the threads that may run it. Everywhere else a query that needs some ends
 * with {@link RequiresPluginCode}, before it has read a row, and is run in such a thread.
 * Source: protocol notes, 3.8.
 */
export interface CalculatedCode {
  /** The value for an entity, which stays the same until the call of the thread ends. @throws what the code throws */
  value(rowId: number): Value
  /** Meaning of a condition; undefined: every value is computed and compared. */
  readonly query?: (operator: string, value: unknown) => QueryText | undefined
  /** The order that stands for an order by the attribute; undefined: every value is computed and compared. */
  readonly orderBy?: (descending: boolean) => string | undefined
}

/** A query as code gives it: its text, and the values of its placeholders as `$params` holds them. */
export interface QueryText {
  readonly text: string
  readonly parameters: unknown
}

const codes = new WeakMap<CalculatedAttribute, CalculatedCode>()
let someDecide = false

export function attachCode(attribute: CalculatedAttribute, code: CalculatedCode): void {
  codes.set(attribute, code)
  someDecide ||= code.query !== undefined || code.orderBy !== undefined
}

/** Whether what a query means is up to code of this thread, so that it is not to be remembered. */
export const codeDecides = (): boolean => someDecide

/** @throws {RequiresPluginCode} */
export function codeOf(attribute: CalculatedAttribute): CalculatedCode {
  const code = codes.get(attribute)
  if (!code) throw new RequiresPluginCode()
  return code
}

/** The value for an entity as it is sent: JSON text. */
export const calculatedText = (attribute: CalculatedAttribute, rowId: number, wire: WireOptions): string =>
  encodePlain(attribute, codeOf(attribute).value(rowId), wire)
