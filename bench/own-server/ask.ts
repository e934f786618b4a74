import { request } from 'undici'
import { Connection } from '../load/connection.ts'
import { Histogram } from '../load/histogram.ts'

/** The JSON of an answer. @throws {Error} for any other status */
export async function askJson(
  port: number,
  path: string,
  body?: object,
  statuses: readonly number[] = [200],
): Promise<Record<string, unknown>> {
  const method = body ? 'POST' : 'GET'
  const answer = await request(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) })
  const text = await answer.body.text()
  if (!statuses.includes(answer.statusCode))
    throw new Error(`${path} is answered with ${answer.statusCode}: ${text.slice(0, 200)}`)
  return JSON.parse(text)
}

/** The bytes of an answer, whatever its status. */
export async function askBytes(port: number, path: string): Promise<Buffer> {
  const { body } = await request(`http://127.0.0.1:${port}${path}`)
  return Buffer.from(await body.arrayBuffer())
}

/**
 * Repeats the same requests in turn over several connections until `over` resolves.
 * @param body ASCII; sent with each by POST
 * @throws {Error} for a wrong status or, for a GET, an answer of a different length
 */
export async function keepAsking(
  port: number,
  connections: number,
  paths: readonly string[],
  over: Promise<unknown>,
  body?: string,
): Promise<{ count: number; perSecond: number; p99Ms: number }> {
  const latencies = new Histogram()
  const lengths = new Map<string, number>()
  let isOver = false
  let next = 0
  const lane = () =>
    new Promise<void>((resolve, reject) => {
      let path = ''
      let sentAt = 0
      const send = () => {
        path = paths[next++ % paths.length]!
        sentAt = performance.now()
        connection.send(
          body === undefined
            ? `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
            : `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        )
      }
      const onAnswer = (status: number, bytes: number) => {
        latencies.add((performance.now() - sentAt) * 1000)
        const length = lengths.get(path) ?? bytes
        lengths.set(path, length)
        if (status !== 200 || (body === undefined && bytes !== length))
          reject(new Error(`status ${status}, ${bytes} bytes for ${path}`))
        else if (!isOver) send()
        else {
          connection.close()
          resolve()
        }
      }
      const onFailure = (reason: string) => reject(new Error(reason))
      const connection = new Connection(port, { onAnswer, onFailure }, send)
    })
  const startedAt = performance.now()
  over.then(() => {
    isOver = true
  })
  await Promise.all(Array.from({ length: connections }, lane))
  const seconds = (performance.now() - startedAt) / 1000
  const { count } = latencies
  return { count, perSecond: count / seconds, p99Ms: latencies.quantile(0.99) / 1000 }
}
