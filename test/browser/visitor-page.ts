/** Pages of visitors: without a session, and without anything that the browser remembers of the previous one. */
import type { Browser, BrowserContext, BrowserContextOptions, CDPSession, Page } from 'playwright-core'

/** Long enough for a busy machine; only failures take it. */
export const PATIENCE_MS = 60_000

/** A page in a separate context. */
export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    locale: 'en-GB',
    viewport: { width: 1200, height: 760 },
    colorScheme: 'light',
    ...options,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  await context.addInitScript(
    "addEventListener('securitypolicyviolation', event => console.error('policy', event.violatedDirective, event.blockedURI))",
  )
  return context.newPage()
}

/**
 * A page that visitors use one after the other, because a separate renderer for each would cost as much as most scenarios. Each
 * visitor loads the explorer again, whose files the browser then has cached and compiled.
 */
export class SharedPage {
  readonly #browser: Browser
  readonly #origin: string
  #page: Page | undefined
  #session: CDPSession | undefined

  constructor(browser: Browser, origin: string) {
    this.#browser = browser
    this.#origin = origin
  }

  async next(): Promise<Page> {
    this.#page ??= await newPage(this.#browser)
    this.#session ??= await this.#page.context().newCDPSession(this.#page)
    await this.#page.goto('about:blank')
    const storageTypes = 'cookies,local_storage,indexeddb,cache_storage,service_workers'
    await this.#session.send('Storage.clearDataForOrigin', { origin: this.#origin, storageTypes })
    return this.#page
  }

  /** Closes the page, so that the next visitor gets another one. */
  async discard(): Promise<void> {
    await this.#page?.context().close()
    this.#page = undefined
    this.#session = undefined
  }
}
