import { inspect } from 'node:util'
import type { AnswerBody, Promised } from '../engine/index.ts'
import { isStream } from './transport/answer.ts'
import { jsonHeaders } from './transport/content-headers.ts'
import type { TransportResponse } from './transport/transport.ts'

export type Reply = TransportResponse

/** A value as the JSON body of an answer. */
export const json = (value: unknown, status = 200, headers?: Record<string, string>): Reply => ({
  status,
  headers: jsonHeaders(headers),
  body: JSON.stringify(value),
})

/** True if a handler has returned something that can be sent. */
export function isReply(reply: Reply): boolean {
  const body = (reply as Partial<Reply> | null | undefined)?.body
  if (typeof body === 'string' || body instanceof Uint8Array) return true
  return typeof body === 'object' && (isStream(body) || typeof body.read === 'function')
}

/** A reply with a copy of its bytes, because bytes of the engine are valid only until its next read. */
export const lasting = (reply: Reply): Reply =>
  reply.body instanceof Uint8Array ? { ...reply, body: new Uint8Array(reply.body) } : reply

/**
 * Reads the whole body of a reply.
 * @throws {Error} the body is larger than `maxBytes`; the rest is not read
 */
export async function readBody({ body }: Reply, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of piecesOf(body)) {
    size += piece.byteLength
    if (size > maxBytes) throw new Error(`the body of a reply has more than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

async function* piecesOf(body: Reply['body']): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) yield Buffer.from(body)
  else if (isStream(body)) for await (const piece of body) yield Buffer.from(piece)
  else {
    try {
      for (let start = 0; start < body.size; ) {
        const piece = Buffer.from(await body.read(start))
        start += piece.byteLength
        yield piece
      }
    } finally {
      body.close()
    }
  }
}

export const wrongReply = (value: unknown): TypeError =>
  new TypeError(
    `a handler returned ${inspect(value, { depth: 1 })}; return json(value), or { status, headers, body } with a text, bytes or an async iterable of them`,
  )

/** An answer whose body the engine has encoded as JSON, immediately or later. */
export function encoded(body: AnswerBody, status?: number, headers?: Record<string, string>): Reply
export function encoded(body: Promised<AnswerBody>, status?: number, headers?: Record<string, string>): Promised<Reply>
export function encoded(body: Promised<AnswerBody>, status = 200, headers?: Record<string, string>): Promised<Reply> {
  if (body instanceof Promise) return body.then(answer => encoded(answer, status, headers))
  const replyHeaders = jsonHeaders(headers)
  if (body instanceof Uint8Array) return { status, headers: replyHeaders, body }
  const { coding, body: bytes } = body
  return { status, headers: coding ? { ...replyHeaders, 'Content-Encoding': coding } : replyHeaders, body: bytes }
}
