import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from '../load/connection.ts'
import { Histogram } from '../load/histogram.ts'

const CONNECTIONS = 16

interface RateRequests {
  readonly perSecond: number
  /** The nth request, complete with its head. */
  request(n: number): string
  /** The requests end when it has resolved. */
  readonly until: Promise<unknown>
}

interface RateFigures {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * Sends requests at a fixed rate, however long their answers take. Latencies count from the time at which a request is due, so that requests
 * that have to wait for a connection are slow.
 * @throws {Error} for any status other than 200, and the error of `until`
 */
export async function askAtRate(port: number, { perSecond, request, until }: RateRequests): Promise<RateFigures> {
  const latencies = new Histogram()
  let problem: string | undefined
  let inFlight = 0
  const due: number[] = []
  const free: ((dueAt: number) => void)[] = []
  let next = 0
  const connections = await Promise.all(
    Array.from(
      { length: CONNECTIONS },
      () =>
        new Promise<Connection>((resolve, reject) => {
          let dueAt = 0
          const send = (at: number): void => {
            dueAt = at
            inFlight++
            connection.send(request(next++))
          }
          const onAnswer = (status: number): void => {
            inFlight--
            latencies.add((performance.now() - dueAt) * 1000)
            if (status !== 200) problem ??= `status ${status}`
            const waiting = due.shift()
            if (waiting === undefined) free.push(send)
            else send(waiting)
          }
          const onFailure = (reason: string): void => {
            problem ??= reason
            reject(new Error(reason))
          }
          const connection = new Connection(port, { onAnswer, onFailure }, () => {
            free.push(send)
            resolve(connection)
          })
        }),
    ),
  )
  let isOver = false
  const end = () => {
    isOver = true
  }
  until.then(end, end)
  const startedAt = performance.now()
  for (let sent = 0; !isOver && problem === undefined; ) {
    await delay(1)
    for (; startedAt + (sent / perSecond) * 1000 < performance.now(); sent++) {
      const dueAt = startedAt + (sent / perSecond) * 1000
      const send = free.shift()
      if (send) send(dueAt)
      else due.push(dueAt)
    }
  }
  while ((inFlight > 0 || due.length > 0) && problem === undefined) await delay(1)
  for (const connection of connections) connection.close()
  if (problem !== undefined) throw new Error(problem)
  await until
  return { count: latencies.count, p50Ms: latencies.quantile(0.5) / 1000, p99Ms: latencies.quantile(0.99) / 1000 }
}

/** A request without a body, or with one in ASCII. */
export const requestText = (path: string, body?: string): string =>
  body === undefined
    ? `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    : `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`
