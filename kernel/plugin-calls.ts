import {
  type Caller,
  type CallResult,
  type Engine,
  type Granted,
  isLogin,
  type SessionData,
  suggestion,
} from '../engine/index.ts'
import type { Scope } from './api.ts'
import type { Reply } from './reply.ts'
import { forgetCaller } from './request.ts'
import { handleOf } from './session/session-id.ts'
import { streamedReply } from './streamed-result.ts'
import { EdgeErrors } from './transport/edge-errors.ts'

interface CallContext {
  readonly engine: Engine
  /** Maximum bytes of JSON in the arguments of a call. */
  readonly argumentBytes: number
}

type Options = Parameters<Scope['call']>[2]

/** `scope.call` of a plugin. @param grants rights that the operator grants to the plugin */
export function pluginCalls({ engine, argumentBytes }: CallContext, plugin: string, grants: Granted) {
  const { classes, permissions } = engine

  return async <Result>(name: string, args: readonly unknown[], { as, signal }: Options): Promise<Result> => {
    const classFunction = classes.byName(plugin, name)
    if (!classFunction) throw new Error(unknownFunction(plugin, name, classes.namesOf(plugin)))
    if (!Array.isArray(args)) throw new TypeError(`scope.call('${name}', …) takes an array of arguments`)
    const body = Buffer.from(JSON.stringify(args))
    if (body.byteLength > argumentBytes) throw EdgeErrors.BODY_TOO_LARGE(argumentBytes)
    if (as !== 'plugin') {
      if (!isLogin(classFunction)) as.demandLogin()
      // A link on any page can send a GET with the cookie of a user.
      if (!classFunction.allowedOnHTTPGET) as.refuseOtherPages()
      // Earlier calls may have changed the session.
      forgetCaller(as)
    }
    const caller = as === 'plugin' ? pluginCaller(plugin, grants, permissions.expand(grants), signal) : as.transport
    const access = permissions.accessOf(as === 'plugin' ? grants : as.session.granted)
    const dataClass = classFunction.target.kind === 'dataClass' ? classFunction.owner : ''
    const read = {
      dataClass,
      access,
      source: { kind: 'all' },
      skip: 0,
      top: undefined,
      output: { form: 'collection' },
    } as const
    return resultOf(
      await engine.calls.call({ function: classFunction, args: body, read, keep: false, isInner: true }, caller),
    ) as Result
  }
}

function unknownFunction(plugin: string, name: string, knownNames: readonly string[]): string {
  const hint = suggestion(name, knownNames) || `; its functions are ${knownNames.join(', ') || 'none'}`
  return `plugin ${plugin} calls "${name}", which is neither a function of its classes nor an exposed one of another plugin${hint}`
}

/** A plugin as the caller of its functions. Its session ends with each call. */
function pluginCaller(
  plugin: string,
  grants: Granted,
  privileges: readonly string[],
  signal: AbortSignal | undefined,
): Caller {
  const userName = `plugin ${plugin}`
  const data: SessionData = {
    id: handleOf(userName),
    userName,
    granted: grants,
    privileges,
    storage: {},
    expires: NEVER,
    idleMinutes: 0,
    entitySets: {},
    isOfToken: true,
    guestStorageBytes: 0,
    client: { host: '', IPAddr: '', userAgent: '' },
  }
  return {
    get aborted() {
      return signal?.aborted ?? false
    },
    onAborted: callback => (signal?.aborted ? callback() : signal?.addEventListener('abort', callback, { once: true })),
    session: () => ({ data, change: async () => {} }),
  }
}

/** The latest valid date. */
const NEVER = 8_640_000_000_000_000

/** Converts a result: a message that a function composed becomes a reply, which a handler can return. */
function resultOf(result: CallResult): unknown {
  if ('message' in result) return result.message satisfies Reply
  if ('stream' in result) return streamedReply(result.stream)
  if (!('body' in result)) throw new Error('a call cannot keep a selection')
  const { body } = result
  const json = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as Record<string, unknown>
  // Answers with entities or selections have other properties.
  return Object.keys(json).length === 1 && 'result' in json ? json.result : json
}
