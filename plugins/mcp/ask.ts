import { parseJsonBody } from '../../engine/index.ts'
import { readBody, type Reply, type RestRequest, type Scope } from '../../kernel/api.ts'
import { beginningOf } from './answer.ts'
import { type Fault, refusal, ToolError } from './tool-error.ts'

/** A request to the public protocol. */
interface Question {
  /** Path after `/rest/`, built by {@link entityPath} or {@link nameIn}. */
  readonly path: string
  /** Undefined values are left out. */
  readonly parameters?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Body of a POST; without one the request is a GET. */
  readonly body?: unknown
  /** Maximum bytes of the answer. */
  readonly maxBytes?: number
}

export interface Answer {
  readonly mediaType: string
  readonly bytes: Uint8Array
}

/** @throws {ToolError} the answer is an error, or too large */
export type Ask = (question: Question) => Promise<Answer>

const MAX_BYTES = 2 ** 20

/**
 * Returns a function that sends requests within the request of an agent, with its rights. Without `mayWrite` it only sends GET requests.
 */
export function askerFor({ dispatch }: Scope, request: RestRequest, mayWrite: boolean): Ask {
  return async ({ path, parameters = {}, body, maxBytes = MAX_BYTES }) => {
    const method = body === undefined ? 'GET' : 'POST'
    if (method !== 'GET' && !mayWrite) throw new Error(`a tool has sent a ${method}, and writing is off`)
    const url = `/rest/${path}${queryOf(parameters)}`
    const payload = body === undefined ? {} : { body: JSON.stringify(body) }
    const reply = await dispatch({ method, url, ...payload }, request)
    const answer = { mediaType: mediaTypeOf(reply), bytes: await bodyOf(reply, maxBytes) }
    if (reply.status >= 400) throw faultOf(reply.status, answer)
    return answer
  }
}

export const isJson = (mediaType: string): boolean => /\bjson\b/.test(mediaType)

/** JSON of an answer; numbers that a double would round are bigints and String objects. */
export const jsonOf = ({ bytes }: Answer): unknown => parseJsonBody(bytes, undefined, 'numbers')

/** `City("12")`. @throws {ToolError} */
export const entityPath = (dataClass: string, key: string): string => `${nameIn(dataClass)}("${encode(key)}")`

const NAME = /^[\p{L}_][\p{L}\p{M}\p{N}_]*$/u

/** Encodes a name for a path, such that it cannot have another meaning there. @throws {ToolError} the text is not a name */
export function nameIn(name: string): string {
  if (NAME.test(name)) return encodeURIComponent(name)
  throw refusal(`${JSON.stringify(name.slice(0, 100))} is not a name; the tool describe lists names`)
}

function queryOf(parameters: NonNullable<Question['parameters']>): string {
  const entries = Object.entries(parameters).filter(([, value]) => value !== undefined)
  // Quotes around a value protect everything inside, including quotes.
  const pairs = entries.map(([name, value]) => `$${name}="${encode(String(value))}"`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

/** Encodes brackets and quotes too, which have a meaning in addresses. */
const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/[!'()*]/g, sign => `%${sign.charCodeAt(0).toString(16)}`)

/** Content type of a reply; plugin code writes header names in any case. */
function mediaTypeOf({ headers = {} }: Reply): string {
  const name = Object.keys(headers).find(each => each.toLowerCase() === 'content-type')
  return name === undefined ? '' : String(headers[name])
}

async function bodyOf(reply: Reply, maxBytes: number): Promise<Uint8Array> {
  try {
    return await readBody(reply, maxBytes)
  } catch {
    throw refusal(`the answer has more than ${maxBytes} bytes; ask for fewer entities or attributes`)
  }
}

interface Failed {
  readonly __ERROR?: readonly Fault[]
}

/** The errors of an answer; errors of a save have the index of the entity. */
function faultOf(status: number, { mediaType, bytes }: Answer): ToolError {
  // Class functions answer with arbitrary content.
  if (!isJson(mediaType)) return new ToolError([{ message: beginningOf(Buffer.from(bytes).toString(), 1_000) }], status)
  const answer = jsonOf({ mediaType, bytes }) as (Failed & { readonly __ENTITIES?: readonly Failed[] }) | undefined
  const ofEntities = (answer?.__ENTITIES ?? []).flatMap(({ __ERROR = [] }, entity) =>
    __ERROR.map(fault => ({ entity, ...reduceFault(fault) })),
  )
  const faults = [...(answer?.__ERROR ?? []).map(reduceFault), ...ofEntities]
  return new ToolError(faults.length > 0 ? faults : [{ message: `the server has answered ${status}` }], status)
}

const reduceFault = ({ message, errCode, attribute }: Fault): Fault => ({ message, errCode, attribute })
