import {
  type CallResult,
  type ClassFunction,
  FunctionErrors,
  isLogin,
  kept,
  type PluginEngine,
  ProtocolError,
  readTimeout,
  sourceOf,
} from '../engine/index.ts'
import { methodNotApplicable } from './errors.ts'
import { encoded, type Reply } from './reply.ts'
import type { RestRequest } from './request.ts'
import { JSON_HEADERS } from './transport/content-headers.ts'
import { streamedReply } from './streamed-result.ts'
import { OwnedBytes } from './transport/owned-bytes.ts'

const VERBS = ['GET', 'POST']

/**
 * Answers a request with the result of a class function; for plugins whose addresses name a function.
 *
 * Arguments are the body of a POST, or `$params` of a GET. A selection is paged, formatted and kept as an entity set (`$method=entityset`)
 * according to the parameters of the request. The values of a generator are lines of JSON, or Server-Sent Events for a client that prefers
 * them. Call it before the first `await`, or after `request.argumentBody()` has been called, and `request.prefersEvents` for a generator.
 * @throws {ProtocolError} from the function; {@link FunctionErrors} Source: base specification, 4.7; protocol notes, 7.
 */
export function callFunction(
  engine: PluginEngine,
  classFunction: ClassFunction,
  request: RestRequest,
): Reply | Promise<Reply> {
  const isGet = request.verb === 'GET' || request.verb === 'HEAD'
  if (!isGet && request.verb !== 'POST') return methodNotApplicable('a class function', request.verb, VERBS)
  // A login changes the caller, which a link must not do.
  if (isGet && (!classFunction.allowedOnHTTPGET || isLogin(classFunction))) throw notByGet(classFunction)
  if (!isLogin(classFunction)) request.demandLogin()
  // Headers are not available after the first `await`, so this one is read now.
  if (classFunction.isStream) void request.prefersEvents
  return isGet
    ? call(engine, classFunction, request, Buffer.from(request.parameter('$params') ?? ''))
    : request.argumentBody().then(body => call(engine, classFunction, request, body))
}

async function call(
  engine: PluginEngine,
  classFunction: ClassFunction,
  request: RestRequest,
  body: Uint8Array,
): Promise<Reply> {
  const { read, transport } = request
  const asEvents = classFunction.isStream && request.prefersEvents
  const keep = request.parameter('$method') === 'entityset'
  const setOptions = request.session.entitySetOptions(readTimeout(request.parameter('$timeout')))
  const args = body.length > 0 ? body : undefined
  const result = await engine.call({ function: classFunction, args, read, keep, asEvents }, transport)
  if (!keep || 'stream' in result) return replyTo(result)
  if ('members' in result) {
    const { dataClass, members } = result
    const set = await engine.entitySets.keepMembers(dataClass, members, setOptions)
    const uri = engine.entitySets.uri(dataClass, set)
    const output = {
      ...read.output,
      form: read.output.form === 'array' ? 'array' : 'collection',
      entitySetUri: uri,
    } as const
    const { skip, top } = read
    const { access } = request
    const body = engine.read({ dataClass, access, source: sourceOf(set.members), skip, top, output }, transport)
    return encoded(await kept(body), 200, { 'Content-Location': uri })
  }
  if (!('body' in result) || classFunction.target.kind !== 'entitySelection') return replyTo(result)
  // The function returned no selection, so the one that it was called on is kept. Source: protocol notes, 7.4.
  const set = await engine.entitySets.create(read, setOptions, transport)
  const bytes = typeof result.body === 'string' ? Buffer.from(result.body) : result.body
  const head = Buffer.from(`{"__ENTITYSET":${JSON.stringify(engine.entitySets.uri(read.dataClass, set))},`)
  return { status: 200, headers: JSON_HEADERS, body: Buffer.concat([head, bytes.subarray(1)]) }
}

function replyTo(result: CallResult): Reply {
  if ('stream' in result) return streamedReply(result.stream)
  if ('message' in result) return { ...result.message, body: ownedBody(result.message.body) }
  return { status: 200, headers: JSON_HEADERS, body: ownedBody('body' in result ? result.body : result.members) }
}

/** Marks bytes as owned: results of a function thread own their memory. */
const ownedBody = (body: Uint8Array | string): Reply['body'] => (typeof body === 'string' ? body : new OwnedBytes(body))

const notByGet = ({ fullName }: ClassFunction): ProtocolError =>
  new ProtocolError({ ...FunctionErrors.NOT_BY_GET(fullName).toData(), allow: ['POST'] })
