export interface Fault {
  readonly message: string
  readonly errCode?: number | undefined
  /** The attribute that the fault is about. */
  readonly attribute?: string | undefined
  /** Index of the entity in a save. */
  readonly entity?: number
}

/** A mistake of the agent, or an error of the protocol. The agent receives it and can correct its request. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  constructor(
    readonly faults: readonly Fault[],
    /** HTTP status of an answer of the protocol. */
    readonly status?: number,
  ) {
    super(faults[0]?.message)
  }
}

/** A {@link ToolError} of the tool itself. */
export const refusal = (message: string): ToolError => new ToolError([{ message }])
