import { setTimeout as delay } from 'node:timers/promises'
import { HTTP_CASES } from '../http/cases.ts'
import { type Address, type HttpCase, requestsFor, type Target } from '../http/http-case.ts'
import { World } from '../world/world.ts'
import { Connection } from './connection.ts'
import { Histogram } from './histogram.ts'

export interface DriveRequest {
  case: string
  seed: number
  employees: number
  target: Target
  port: number
  connections: number
  seconds: number
  /** Number of the first request. */
  from: number
  /** Sizes of the answers in bytes, by request number. Unknown sizes are learnt from the first answer. */
  lengths: readonly (number | undefined)[]
}

export interface Figures {
  requests: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

export interface DriveResult extends Figures {
  /** Number of the next request. */
  next: number
  /** Distinct errors, at most a few. */
  errors: string[]
  beside?: Figures
}

const BESIDE_CONNECTIONS = 8
const MAX_ERRORS = 3
const HANG_SECONDS = 60

/** Sends the requests of a case for some time; each connection sends the next one as soon as it has its answer. */
export async function drive(request: DriveRequest): Promise<DriveResult> {
  const bench = HTTP_CASES.find(({ name }) => name === request.case)!
  const world = new World(request.seed, request.employees)
  const { target, port, connections, from } = request
  const lengths = bench.kind === 'read' ? [...request.lengths] : undefined
  const main = new Lane(preparedRequests(bench, 'requests', target, world), from, lengths)
  const beside = bench.beside && new Lane(preparedRequests(bench, 'beside', target, world), from)
  await Promise.all([main.open(port, connections), beside?.open(port, BESIDE_CONNECTIONS)])
  main.start()
  beside?.start()
  await delay(request.seconds * 1000)
  const errors = (await Promise.all([main.stop(), beside?.stop() ?? []])).flat()
  return { ...main.figures(), next: main.next, errors, ...(beside && { beside: beside.figures() }) }
}

type PreparedRequests = { size: number; at(n: number): string }

/** Prepared requests of the newest case only: bodies of bulk inserts are large. */
let cache: { case: string; requests: Map<string, PreparedRequests> } = { case: '', requests: new Map() }

/** Requests as they are sent, prepared once if their number is limited. */
function preparedRequests(
  bench: HttpCase,
  lane: 'requests' | 'beside',
  target: Target,
  world: World,
): PreparedRequests {
  if (cache.case !== bench.name) cache = { case: bench.name, requests: new Map() }
  const key = `${lane} ${target}`
  let requests = cache.requests.get(key)
  if (!requests) {
    const { size, at } = bench[lane]!(world)
    const text = (n: number): string => requestText(at(n)[requestsFor(target)])
    if (size === Number.POSITIVE_INFINITY) requests = { size, at: text }
    else {
      const texts = Array.from({ length: size }, (_, n) => text(n))
      requests = { size, at: n => texts[n]! }
    }
    cache.requests.set(key, requests)
  }
  return requests
}

function requestText({ path, body }: Address): string {
  const head = `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
  return body === undefined
    ? `${head}\r\n`
    : `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Connections that send requests of one kind. */
class Lane {
  private readonly sending: (() => void)[] = []
  private readonly closing: (() => void)[] = []
  private readonly histogram = new Histogram()
  private readonly errors = new Set<string>()
  private startedAt = 0
  private lastAnswerAt = 0
  private inFlight = 0
  private isStopped = false
  private onIdle = (): void => {}

  constructor(
    private readonly requests: PreparedRequests,
    public next: number,
    /** Expected bytes of the answers; undefined when they may vary. */
    private readonly lengths?: (number | undefined)[],
  ) {}

  async open(port: number, count: number): Promise<void> {
    await Promise.all(
      Array.from({ length: count }, () => new Promise<void>((resolve, reject) => this.connect(port, resolve, reject))),
    )
  }

  start(): void {
    this.startedAt = performance.now()
    for (const send of this.sending) send()
  }

  /** Resolves when all outstanding answers have arrived. @returns the errors */
  async stop(): Promise<string[]> {
    this.isStopped = true
    if (this.inFlight > 0) {
      const idle = new Promise<void>(resolve => {
        this.onIdle = resolve
      })
      const hang = new AbortController()
      await Promise.race([idle, delay(HANG_SECONDS * 1000, undefined, { signal: hang.signal }).catch(() => {})])
      hang.abort()
      if (this.inFlight > 0) this.fail(`${this.inFlight} requests without an answer after ${HANG_SECONDS} s`)
    }
    for (const close of this.closing) close()
    return [...this.errors]
  }

  figures(): Figures {
    const { histogram } = this
    return {
      requests: histogram.count,
      // Measured until the last answer, so that requests that a slow server finishes after the end count, with their time.
      perSecond: (histogram.count / Math.max(1e-3, this.lastAnswerAt - this.startedAt)) * 1000,
      p50Ms: histogram.quantile(0.5) / 1000,
      p99Ms: histogram.quantile(0.99) / 1000,
    }
  }

  private connect(port: number, onConnect: () => void, onRefused: (error: Error) => void): void {
    let sentAt = 0
    let number = 0
    let isOpen = false
    const send = (): void => {
      number = this.next++ % this.requests.size
      this.inFlight++
      const text = this.requests.at(number)
      sentAt = performance.now()
      connection.send(text)
    }
    const connection = new Connection(
      port,
      {
        onAnswer: (status, bodyBytes) => {
          this.lastAnswerAt = performance.now()
          this.histogram.add((this.lastAnswerAt - sentAt) * 1000)
          this.inFlight--
          this.check(number, status, bodyBytes)
          if (!this.isStopped) send()
          else if (this.inFlight === 0) this.onIdle()
        },
        onFailure: reason => {
          if (!isOpen) return onRefused(new Error(reason))
          this.fail(reason)
          this.inFlight--
          if (this.isStopped && this.inFlight === 0) this.onIdle()
        },
      },
      () => {
        isOpen = true
        onConnect()
      },
    )
    this.sending.push(send)
    this.closing.push(() => connection.close())
  }

  private check(number: number, status: number, bodyBytes: number): void {
    if (status !== 200) this.fail(`status ${status} for ${this.requests.at(number).slice(0, 200)}`)
    if (!this.lengths) return
    this.lengths[number] ??= bodyBytes
    const expected = this.lengths[number]
    if (bodyBytes !== expected) {
      this.fail(`${bodyBytes} bytes and not ${expected} for ${this.requests.at(number).slice(0, 200)}`)
    }
  }

  private fail(reason: string): void {
    if (this.errors.size < MAX_ERRORS) this.errors.add(reason)
  }
}
