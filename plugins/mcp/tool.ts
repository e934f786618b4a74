import type { RestRequest, Scope, Static } from '../../kernel/api.ts'
import type { TObject } from '@sinclair/typebox'
import type { ToolResult } from './answer.ts'
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
  /** Values of the parameters that plugins have added to reads, by their names without `$`. */
  readonly pluginValues: Readonly<Record<string, string>>
}

export interface Tool<Schema extends TObject = TObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Schema
  /** True if it also takes the parameters that plugins have added to reads. */
  readonly takesParameters?: boolean
  /** True if the tool may change something. */
  readonly writes?: boolean
  run(input: Static<Schema>, context: ToolContext): Promise<ToolResult>
}

/** Types a tool by its schema. */
export const defineTool = <Schema extends TObject>(tool: Tool<Schema>): Tool => tool as unknown as Tool
