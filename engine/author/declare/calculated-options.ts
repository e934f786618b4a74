import type { CalculatedType } from '../../catalog/value-type.ts'

/** How a calculated attribute is typed, stored and read. */
export interface CalculatedOptions {
  readonly type: CalculatedType
  /** Computed when the entity is saved, and stored with it. Only for values that depend on nothing but the entity. */
  readonly stored?: boolean
  /** Only with `stored`. */
  readonly indexed?: boolean
  /** A date without time of day. */
  readonly simpleDate?: boolean
  /** Digits after the point of a decimal; required for decimals. */
  readonly scale?: number
  /** Sends a decimal as a string. */
  readonly asText?: boolean
  /** Change it when the code computes something different: stored values are computed again. */
  readonly version?: number | string
  /**
   * True if the code reads entities that restrict events hide from the caller, so that the value is the same for every caller. By default,
   * the code sees what the caller sees.
   */
  readonly unrestricted?: boolean
  /** False: only plugin code sees it. */
  readonly exposed?: boolean
}
