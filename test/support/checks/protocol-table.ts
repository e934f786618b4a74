import t, { type Test } from 'tap'
import type { Dispatcher } from 'undici'
import type { TransportName } from '../../../kernel/transport/transport.ts'
import { type Contract, contractOf } from './openapi.ts'
import { unlessRemote, wantedSetting } from '../runner/setting.ts'
import { type Fixture, startServer, type TestServer, usualTransports } from '../servers/test-server.ts'

/** A request and its expected answer. Usually one expectation is about the body, but all may be given. */
export interface ProtocolCase {
  /** Section that promises the behaviour: `4.3.1` of the base specification, `P2.9` of the protocol notes, `D2` of the design. */
  spec: string
  /** One sentence that could be false. */
  name: string
  /** Path relative to `/rest`. */
  get?: string
  post?: string
  put?: string
  delete?: string
  head?: string
  body?: unknown
  /** 200 when absent. */
  status?: number
  /** The whole body. */
  json?: unknown
  /** Parts of the body, compared as `t.match` does. */
  has?: unknown
  /** The whole body as text. */
  text?: string | RegExp
  /** `__KEY` of the entities in their order. */
  keys?: readonly string[]
  /** `__COUNT`. */
  count?: number
  /** errCodes of `__ERROR` in their order. */
  errors?: readonly number[]
  headers?: Record<string, RegExp | string>
  /** Keys of all entities of some dataclasses, ascending, after the request. */
  left?: Readonly<Record<string, readonly string[]>>
  /** Parts of the answers at paths, after the request. */
  afterwards?: Readonly<Record<string, unknown>>
  /** Reason why dataclasses in PostgreSQL have another answer: the setting `remote` leaves the case out. */
  notRemote?: string
}

/**
 * Runs a table. Its cases share one server and one store; with `isolated`, cases after one that has changed something get
 * new ones.
 */
export function protocolTable(
  title: string,
  fixture: Fixture,
  cases: readonly ProtocolCase[],
  {
    isolated = false,
    config,
    on = usualTransports,
  }: { isolated?: boolean; config?: Record<string, unknown>; on?: readonly TransportName[] } = {},
): void {
  for (const transport of on) {
    t.test(`${title} on ${transport}`, async t => {
      const start = () => startServer(t, fixture, { transport, config })
      let server = await start()
      const contract = await contractOf(server)
      let changes = 0
      // Tables of PostgreSQL have no such stamp.
      const stamp = async () => (wantedSetting() === 'remote' ? changes : await globalStamp(server, fixture))
      const untouched = isolated && (await stamp())
      for (const each of cases) {
        if (isolated && (await stamp()) !== untouched) {
          await server.close()
          server = await start()
          changes = 0
        }
        const options = each.notRemote === undefined ? {} : unlessRemote(each.notRemote)
        await t.test(`§${each.spec} ${each.name}`, options, t => check(t, server, each, contract))
        if (each.get === undefined || each.get.includes('$method')) changes++
      }
    })
  }
}

/** Differs after every change of an entity; NaN, which does not equal itself, if the server does not report it. */
async function globalStamp(server: TestServer, { rows }: Fixture): Promise<number> {
  return Number((await server.get(`/${Object.keys(rows)[0]}?$top=0`)).json?.__GlobalStamp)
}

async function check(t: Test, server: TestServer, each: ProtocolCase, contract: Contract | undefined): Promise<void> {
  const verb = (['get', 'post', 'put', 'delete', 'head'] as const).find(name => each[name] !== undefined)!
  const answer = await server.send(verb.toUpperCase() as Dispatcher.HttpMethod, each[verb]!, each.body)
  t.equal(answer.status, each.status ?? 200, `status of ${each[verb]}: ${answer.text.slice(0, 500)}`)
  const template = contract?.covering(verb, each[verb]!, each.body)
  if (template)
    t.equal(contract!.problemWith({ method: verb, template }, answer), undefined, 'as the OpenAPI document says')
  if (each.json !== undefined) t.same(answer.json, each.json)
  if (each.has !== undefined) t.match(answer.json, each.has as object)
  if (each.text !== undefined) (typeof each.text === 'string' ? t.equal : t.match)(answer.text, each.text)
  if (each.keys) t.same(keysOf(answer.json), each.keys)
  if (each.count !== undefined) t.equal(answer.json.__COUNT, each.count)
  if (each.errors) t.same(errorCodesOf(answer.json), each.errors, answer.text.slice(0, 500))
  if (each.headers) t.match(answer.headers, each.headers)
  for (const [dataClass, keys] of Object.entries(each.left ?? {})) {
    const { json } = await server.get(`/${dataClass}?$top=-1`)
    t.same([...keysOf(json)].sort(), keys, `entities of ${dataClass} afterwards`)
  }
  for (const [path, has] of Object.entries(each.afterwards ?? {})) {
    t.match((await server.get(path)).json, has as object, `${path} afterwards`)
  }
}

interface Shown {
  __KEY?: string
}

const keysOf = (json: { __ENTITIES?: Shown[] } | Shown[]): (string | undefined)[] =>
  (Array.isArray(json) ? json : (json.__ENTITIES ?? [])).map(entity => entity.__KEY)

const errorCodesOf = (json: { __ERROR?: { errCode: number }[] }): number[] =>
  (json.__ERROR ?? []).map(error => error.errCode)
