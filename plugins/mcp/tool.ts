import type { RestRequest, Scope, Static } from '../../kernel/api.ts'
import type { TObject } from '@sinclair/typebox'
import type { Ask } from './ask.ts'

/** The request of an agent, in which a tool runs. */
export interface AgentRequest {
  readonly scope: Scope
  readonly request: RestRequest
  readonly mayWrite: boolean
}

/** Context of a running tool. */
export interface ToolContext extends AgentRequest {
  readonly ask: Ask
}

type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }

/** Result of a tool, as the protocol has it. */
export type ToolResult = {
  content: Content[]
  structuredContent?: Record<string, unknown>
  isError?: boolean
}

export interface Tool<Schema extends TObject = TObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema
  /** True if the tool may change something. */
  readonly writes?: boolean
  run(input: Static<Schema>, context: ToolContext): Promise<ToolResult>
}

/** Types a tool by its schema. */
export const defineTool = <Schema extends TObject>(tool: Tool<Schema>): Tool => tool as unknown as Tool

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
export const refused = (message: string): ToolError => new ToolError([{ message }])
