import type { CallerSession, WorkElsewhere } from '../engine/index.ts'
import { isWrite } from './session/page-policy.ts'
import { EdgeErrors } from './transport/edge-errors.ts'
import type { Client } from './transport/client.ts'
import type { StreamLimits, TakePiece, TransportRequest } from './transport/transport.ts'

/** A request that a plugin makes within the server. */
export interface InnerRequest {
  /** `GET` by default. */
  readonly method?: string
  /** Path and query, percent-encoded, as clients write them: `/rest/City?$top=1`. */
  readonly url: string
  /** Headers by lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
}

/** Headers in which browsers name the page that sends a request. */
const OF_PAGES = ['origin', 'sec-fetch-site']

/** Presents an inner request as a received one. Client, cost and abort signal are those of the outer request. */
export class InnerTransport implements TransportRequest {
  readonly method: string
  path: string
  query: string
  readonly client: Client
  readonly host: string
  readonly isSecure: boolean
  readonly coding = undefined
  session: (() => CallerSession) | undefined
  subject: TransportRequest['subject']
  readonly #headers: ReadonlyMap<string, string>
  readonly #body: Uint8Array
  readonly #outer: TransportRequest

  /**
   * @param bodyBytes maximum size of the body
   * @throws {Error} a GET, which a link on any page can send, dispatches a write
   */
  constructor(
    { method = 'GET', url, headers = {}, body = '' }: InnerRequest,
    outer: TransportRequest,
    private readonly bodyBytes: number,
  ) {
    const isRead = !isWrite(outer.method)
    if (isRead && isWrite(method)) throw new Error(`a ${outer.method} cannot dispatch a ${method}: links can send it`)
    const question = url.indexOf('?')
    this.method = method
    this.path = question < 0 ? url : url.slice(0, question)
    this.query = question < 0 ? '' : url.slice(question + 1)
    this.client = outer.client
    this.host = outer.host
    this.isSecure = outer.isSecure
    // Some GETs change data and are refused to pages of other origins. Writes have passed that check.
    const ofPage = isRead ? OF_PAGES.map(name => [name, outer.header(name)] as const) : []
    this.#headers = new Map([...Object.entries(headers), ...ofPage])
    this.#body = typeof body === 'string' ? Buffer.from(body) : body
    this.#outer = outer
  }

  header(name: string): string {
    return this.#headers.get(name) ?? ''
  }

  keep(): void {}

  async body(maxBytes = this.bodyBytes): Promise<Uint8Array> {
    return this.#within(Math.min(maxBytes, this.bodyBytes))
  }

  async streamBody(take: TakePiece, { bodyBytes }: StreamLimits): Promise<void> {
    await take(this.#within(bodyBytes))
  }

  #within(maxBytes: number): Uint8Array {
    if (this.#body.byteLength > maxBytes) throw EdgeErrors.BODY_TOO_LARGE(maxBytes)
    return this.#body
  }

  get aborted(): boolean {
    return this.#outer.aborted
  }

  onAborted(callback: () => void): void {
    this.#outer.onAborted(callback)
  }

  examined(rows: number): void {
    this.#outer.examined(rows)
  }

  sent(rows: number): void {
    this.#outer.sent(rows)
  }

  ran(work: WorkElsewhere): void {
    this.#outer.ran(work)
  }

  get work(): readonly WorkElsewhere[] {
    return this.#outer.work
  }

  get traceparent(): string {
    return this.#outer.traceparent
  }
}
