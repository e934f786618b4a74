import type { CalculatedType } from '../../catalog/value-type.ts'

/** How a calculated attribute is typed, stored and read. */
export interface CalculatedOptions {
  readonly type: CalculatedType
  /** Computed when the entity is saved, and stored with it. Only for values that depend on its own entity alone. */
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
   * True: its code reads entities that restrict events hide from the caller, so that its value is the same for every caller. By default
   * it sees what the caller sees.
   */
  readonly unrestricted?: boolean
  /** False: only plugin code sees it. */
  readonly exposed?: boolean
}
