import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../base/random.ts'

/** A request as bytes, and the method that its answer is read for. */
export interface RawRequest {
  readonly method: string
  readonly bytes: Buffer
}

export interface RawAnswer {
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

/** @param body sent with a Content-Length, or in two chunks */
export function rawRequest(
  method: string,
  path: string,
  { headers = '', body, chunked = false }: { headers?: string; body?: string; chunked?: boolean } = {},
): RawRequest {
  const content = Buffer.from(body ?? '')
  const framing =
    body === undefined ? '' : chunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${content.length}\r\n`
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}${framing}\r\n`)
  return { method, bytes: Buffer.concat([head, ...(chunked ? inChunks(content) : [content])]) }
}

function inChunks(content: Buffer): Buffer[] {
  const middle = content.length >> 1
  const chunks = [content.subarray(0, middle), content.subarray(middle)].filter(chunk => chunk.length > 0)
  return [...chunks, Buffer.alloc(0)].flatMap(chunk => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ])
}

/** The bytes of all requests, cut at random places. */
export function cutAtRandom(requests: readonly RawRequest[], random: Random, count: number): Buffer[] {
  const bytes = Buffer.concat(requests.map(request => request.bytes))
  const places = Array.from({ length: count }, () => random.integer(1, bytes.length - 1)).sort((a, b) => a - b)
  return [0, ...places].map((start, i) => bytes.subarray(start, places[i]))
}

/**
 * Sends all pieces without waiting for answers, each in a turn of its own, and reads until the server closes the connection.
 * @param pauseMs time for which it reads nothing after each packet
 */
export async function sendPipelined(port: number, pieces: Iterable<Buffer>, pauseMs = 0): Promise<Buffer> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const received: Buffer[] = []
  socket.on('error', () => {})
  socket.on('data', async bytes => {
    received.push(bytes)
    if (pauseMs === 0) return
    socket.pause()
    await delay(pauseMs)
    socket.resume()
  })
  // `once` would fail with a reset, which is an end like any other.
  const closed = new Promise(resolve => socket.on('close', resolve))
  await once(socket, 'connect')
  for (const piece of pieces) {
    if (socket.destroyed) break
    socket.write(piece)
    await new Promise(nextTurn => setImmediate(nextTurn))
  }
  await closed
  return Buffer.concat(received)
}

/** Sends each request when the one before is answered, all over one connection. */
export async function sendInTurn(port: number, requests: readonly RawRequest[]): Promise<RawAnswer[]> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const answers: RawAnswer[] = []
  for (const one of requests) {
    socket.write(one.bytes)
    const pieces: Buffer[] = []
    let answer: RawAnswer | undefined
    while (!answer) {
      const [piece] = (await once(socket, 'data')) as [Buffer]
      pieces.push(piece)
      answer = answersIn(Buffer.concat(pieces), [one]).answers[0]
    }
    answers.push(answer)
  }
  socket.destroy()
  return answers
}

/** The complete answers at the beginning of what has been received for these requests, and the number of bytes after them. */
export function answersIn(
  received: Buffer,
  requests: readonly RawRequest[],
): { answers: RawAnswer[]; restBytes: number } {
  const answers: RawAnswer[] = []
  let at = 0
  for (const { method } of requests) {
    const headEnd = received.indexOf('\r\n\r\n', at)
    if (headEnd < 0) break
    const head = received.toString('latin1', at, headEnd)
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    const framed = bodyAt(received, headEnd + 4, head, method === 'HEAD' || status === 204 || status === 304)
    if (!framed) break
    answers.push({ status, head, body: framed.body })
    at = framed.end
  }
  return { answers, restBytes: received.length - at }
}

function bodyAt(
  received: Buffer,
  start: number,
  head: string,
  isEmpty: boolean,
): { body: Buffer; end: number } | undefined {
  if (isEmpty) return { body: Buffer.alloc(0), end: start }
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length !== undefined) {
    const end = start + Number(length)
    return end > received.length ? undefined : { body: received.subarray(start, end), end }
  }
  const chunks: Buffer[] = []
  for (let at = start; ; ) {
    const lineEnd = received.indexOf('\r\n', at)
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(received.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size
    if (Number.isNaN(size) || end + 2 > received.length) return undefined
    if (size === 0) return { body: Buffer.concat(chunks), end: end + 2 }
    chunks.push(received.subarray(lineEnd + 2, end))
    at = end + 2
  }
}
