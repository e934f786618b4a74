import {
  bodyText,
  type CallResult,
  type ClassFunction,
  type Engine,
  FunctionErrors,
  isLogin,
  kept,
  readTimeout,
  sourceOf,
} from '../engine/index.ts'
import { ProtocolError } from '../engine/errors.ts'
import { methodNotApplicable } from './errors.ts'
import { encoded, JSON_HEADERS, type Reply } from './reply.ts'
import type { RestRequest } from './request.ts'

const VERBS = ['GET', 'POST']

/**
 * Answers a request with what a class function returns: for every plugin whose addresses lead to one.
 *
 * Arguments come in the body of a POST, or in `$params` of a GET. A selection is paged, shown and kept as an entity set
 * (`$method=entityset`) as the parameters of the request say. Call it before the first `await`, or after
 * `request.body()` has been asked for.
 * @throws {ProtocolError} what the function throws; {@link FunctionErrors}
 * Source: base specification, 4.7; protocol notes, 7.
 */
export function callFunction(engine: Engine, called: ClassFunction, request: RestRequest): Reply | Promise<Reply> {
  const isGet = request.verb === 'GET' || request.verb === 'HEAD'
  if (!isGet && request.verb !== 'POST') return methodNotApplicable('a class function', request.verb, VERBS)
  // A login changes who asks, which a link must not do.
  if (isGet && (!called.allowedOnHTTPGET || isLogin(called))) throw notByGet(called)
  if (!isLogin(called)) request.demandLogin()
  return isGet
    ? call(engine, called, request, request.parameter('$params'))
    : request.body().then(body => call(engine, called, request, body.length > 0 ? bodyText(body) : undefined))
}

async function call(
  engine: Engine,
  called: ClassFunction,
  request: RestRequest,
  args: string | undefined,
): Promise<Reply> {
  const { read, transport } = request
  const keep = request.parameter('$method') === 'entityset'
  const setOptions = request.session.entitySetOptions(readTimeout(request.parameter('$timeout')))
  const result = await engine.call({ function: called, args, read, keep }, transport)
  if (!keep) return replyTo(result)
  if ('members' in result) {
    const { dataClass, members } = result
    const set = await engine.entitySets.keepMembers(dataClass, members, setOptions)
    const uri = entitySetUri(dataClass, set.id)
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
  if (!('body' in result) || called.target.kind !== 'entitySelection') return replyTo(result)
  // The function has returned no selection, so the one that it was called on is kept. Source: protocol notes, 7.4.
  const set = await engine.entitySets.create(read, setOptions, transport)
  const text = typeof result.body === 'string' ? result.body : Buffer.from(result.body).toString()
  const uri = entitySetUri(read.dataClass, set.id)
  return { status: 200, headers: JSON_HEADERS, body: `{"__ENTITYSET":${JSON.stringify(uri)},${text.slice(1)}` }
}

const entitySetUri = (dataClass: string, id: string): string =>
  `/rest/${encodeURIComponent(dataClass)}/$entityset/${id}`

const replyTo = (result: CallResult): Reply =>
  'message' in result
    ? result.message
    : { status: 200, headers: JSON_HEADERS, body: 'body' in result ? result.body : result.members }

const notByGet = ({ fullName }: ClassFunction): ProtocolError =>
  new ProtocolError({ ...FunctionErrors.NOT_BY_GET(fullName).toData(), allow: ['POST'] })
