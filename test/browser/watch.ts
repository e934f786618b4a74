/** Requests, answers and reports of a page. */
import type { ConsoleMessage, Page, Request, Response } from 'playwright-core'

const MAX_ANSWER_BYTES = 200_000
/** Longer than the pause in typing after which pages send requests. */
const QUIET_MS = 150

export interface Answer {
  readonly url: string
  readonly status: number
  readonly bytes: number
  /** Body of the request; empty for none. */
  readonly sent: string
  /** Empty unless it is text. */
  readonly text: string
}

/** Follows a page until {@link Watch.stop}. */
export class Watch {
  readonly #page: Page
  readonly #url: string
  readonly #expected: RegExp[] = []
  readonly #errors: string[] = []
  readonly #pending: Promise<Answer | undefined>[] = []
  readonly #open = new Set<Request>()
  #lastEvent = Date.now()

  /** @param url of the server */
  constructor(page: Page, url: string) {
    this.#page = page
    this.#url = url
    for (const [event, listener] of Object.entries(this.#listeners)) page.on(event as 'request', listener as () => void)
  }

  stop(): void {
    for (const [event, listener] of Object.entries(this.#listeners))
      this.#page.off(event as 'request', listener as () => void)
  }

  /** Errors that belong to the scenario. */
  expect(...patterns: readonly RegExp[]): void {
    this.#expected.push(...patterns)
  }

  /** Answers to the page so far, without its own files. */
  async answers(): Promise<readonly Answer[]> {
    return (await Promise.all(this.#pending)).filter((answer): answer is Answer => answer !== undefined)
  }

  /** Waits until the page has sent no request for a moment. @throws {Error} after `patienceMs` */
  async settled(patienceMs: number): Promise<void> {
    const end = Date.now() + patienceMs
    // The last action may be about to send its first request.
    this.#lastEvent = Date.now()
    for (;;) {
      const rest = this.#open.size > 0 ? QUIET_MS : this.#lastEvent + QUIET_MS - Date.now()
      if (rest > 0) await new Promise(resolve => setTimeout(resolve, rest))
      // A busy page has yet to show an answer, or to send another request: it does so by the task after its next frame.
      else await this.#page.evaluate('new Promise(done => requestAnimationFrame(() => setTimeout(done)))')
      if (rest <= 0 && this.#open.size === 0 && Date.now() - this.#lastEvent >= QUIET_MS) return
      if (Date.now() > end) throw new Error(`still asked for: ${[...this.#open].map(request => request.url())}`)
    }
  }

  async faults(): Promise<string[]> {
    const large = (await this.answers()).filter(({ bytes }) => bytes > MAX_ANSWER_BYTES)
    return [...this.#errors, ...large.map(({ bytes, url }) => `an answer of ${bytes} bytes: ${url}`)].filter(
      error => !this.#expected.some(pattern => pattern.test(error)),
    )
  }

  readonly #ended = (request: Request): void => {
    this.#open.delete(request)
    this.#lastEvent = Date.now()
  }

  readonly #listeners = {
    console: (message: ConsoleMessage) => {
      if (message.type() === 'error') this.#errors.push(`console: ${message.text()} ${message.location().url}`)
    },
    pageerror: (error: Error) => {
      this.#errors.push(`page: ${error.stack ?? error}`)
    },
    request: (request: Request) => {
      this.#open.add(request)
      this.#lastEvent = Date.now()
      const address = request.url()
      if (!/^(data|blob):/.test(address) && !address.startsWith(`${this.#url}/`))
        this.#errors.push(`another server: ${address}`)
    },
    requestfinished: this.#ended,
    requestfailed: this.#ended,
    response: (response: Response) => {
      if (response.url().startsWith(`${this.#url}/rest/`)) this.#pending.push(answerOf(response))
    },
  }
}

/** Returns undefined if the page has abandoned the request. */
async function answerOf(response: Response): Promise<Answer | undefined> {
  const body: Buffer | undefined = await response.body().catch(() => undefined)
  if (!body) return undefined
  const isText = /json|text/.test(response.headers()['content-type'] ?? '')
  return {
    url: response.url(),
    status: response.status(),
    bytes: body.length,
    sent: response.request().postData() ?? '',
    text: isText ? body.toString('utf8') : '',
  }
}
