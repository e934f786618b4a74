import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Test } from 'tap'

/** Time for an answer. Long, because a test may make hundreds of calls at once on a busy machine. */
const PATIENCE_MS = 600_000

/** Versions of the protocol: with a handshake, and without one. */
export const ERAS = ['legacy', 'modern'] as const
export type Era = (typeof ERAS)[number]

export interface ToolAnswer {
  readonly isError: boolean
  /** Text of the first part of the answer. */
  readonly text: string
  /** This text as JSON; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape
  readonly json: any
  // biome-ignore lint/suspicious/noExplicitAny: the same
  readonly structured: any
  readonly content: readonly { readonly type: string; readonly data?: string; readonly mimeType?: string }[]
}

export interface Agent {
  readonly client: Client
  call(name: string, input?: object): Promise<ToolAnswer>
}

/** The official client, connected to `/mcp` of a server; closed with the test. @param key an API key or a token */
export async function connect(t: Test, url: string, { era = 'modern' as Era, key = '' } = {}): Promise<Agent> {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: '2026-07-28' } } },
  )
  const requestInit = key ? { headers: { authorization: `Bearer ${key}` } } : {}
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  t.teardown(() => client.close())
  return agentOf(client)
}

export const agentOf = (client: Client): Agent => ({
  client,
  async call(name, input = {}) {
    const result = await client.callTool({ name, arguments: { ...input } }, { timeout: PATIENCE_MS })
    const content = result.content as ToolAnswer['content']
    const text = (content[0] as { text?: string } | undefined)?.text ?? ''
    return { isError: result.isError === true, text, json: parsed(text), structured: result.structuredContent, content }
  },
})

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // A description is not JSON.
    return undefined
  }
}
