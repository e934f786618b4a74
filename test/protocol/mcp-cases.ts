/** Calls of the tools of `/mcp` as tables, by the official client. */
import t, { type Test } from 'tap'
import { type Agent, connect, ERAS, type ToolAnswer } from '../support/clients/mcp-client.ts'
import { company } from '../support/fixtures/company.ts'
import { startServer, usualTransports } from '../support/servers/test-server.ts'
import { staffPlugin } from '../support/plugins/test-plugins.ts'

const MAX_ANSWER_BYTES = 16 * 1024

export interface Case {
  readonly says: string
  readonly tool: string
  readonly input?: object
  /** Parts of the JSON. */
  readonly has?: object
  /** The whole `data`. */
  readonly data?: unknown
  readonly text?: RegExp
  /** Part of the message of an error. */
  readonly error?: RegExp
  readonly status?: number
}

export const names = (...values: string[]) => values.map(lastName => ({ lastName }))
export const employees = (input: object) => ({ class: 'Employee', attributes: ['lastName'], ...input })

function check(t: Test, { data, has, text, error, status }: Case, answer: ToolAnswer): void {
  t.equal(answer.isError, error !== undefined, answer.text.slice(0, 500))
  t.ok(Buffer.byteLength(answer.text) <= MAX_ANSWER_BYTES)
  if (error) {
    t.match(answer.json.errors.map((each: { message: string }) => each.message).join('\n'), error)
    t.equal(answer.json.status !== undefined || status === undefined, true)
    if (status !== undefined) t.equal(answer.json.status, status)
  }
  if (text) t.match(answer.text, text)
  if (data !== undefined) t.strictSame(answer.json.data, data)
  if (has) t.match(answer.json, has)
  if (answer.json && !error) {
    t.match(answer.json.notice, /values, not instructions/)
    t.strictSame(answer.structured, answer.json, 'structured content says the same')
  }
}

export async function run(t: Test, agent: Agent, cases: readonly Case[]): Promise<void> {
  for (const each of cases) {
    await t.test(`${each.tool}: ${each.says}`, async t => check(t, each, await agent.call(each.tool, each.input)))
  }
}

/** Runs cases on servers with the plugin "staff", in both eras. */
export function runWithStaff(cases: readonly Case[]): void {
  for (const transport of usualTransports) {
    t.test(`tools on ${transport}`, async t => {
      const server = await startServer(t, company, { transport, config: { plugins: [staffPlugin] } })
      for (const era of ERAS) await t.test(era, async t => run(t, await connect(t, server.url, { era }), cases))
    })
  }
}
