/**
 * Scenarios in a browser: each has its own visitor, with no state of earlier ones, on the explorer of a running server. A scenario
 * fails, whatever the visitor does, on an error in the console or of the page, a violation of the page's policy, a request to
 * another server, or an answer of the protocol above 200 KB.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core'
import type { TransportName } from '../../kernel/transport/transport.ts'
import { isLong } from '../support/runner/rounds.ts'
import { usualTransports } from '../support/servers/test-server.ts'
import { accessFaults } from './axe.ts'
import { startBrowser } from './chromium.ts'
import { newPage, PATIENCE_MS, SharedPage } from './visitor-page.ts'
import { type Answer, Watch } from './watch.ts'

/** Milliseconds between two checks of a condition. */
const LOOK_MS = 25
const wanted = process.env.TESSER_TEST_SCENARIO ?? ''
/** A usual run shows every second scenario of a room, beginning with the first; other runs show all that are wanted. */
const isShown = (name: string, at: number): boolean => (wanted ? name.includes(wanted) : isLong || at % 2 === 0)

export interface Visit {
  readonly t: Test
  readonly page: Page
  /** Address of the server. */
  readonly url: string
  /** Answers to the page so far, without its own files. */
  answers(): Promise<readonly Answer[]>
  /** Shows a place of the explorer: `City?filter=…`, `$model`; empty for its home. */
  open(place?: string): Promise<void>
  /** Waits for an element or a text, and passes when it is there. */
  sees(what: Locator | string | RegExp): Promise<void>
  /** Waits until it is gone. */
  missing(what: Locator | string | RegExp): Promise<void>
  /** Waits until the page has sent no request for a moment. */
  settled(): Promise<void>
  /** Waits until a condition is true. */
  until(what: string, isTrue: () => Promise<boolean> | boolean): Promise<void>
  /** Checks the current page for accessibility errors, in both themes. */
  accessible(): Promise<void>
  /** Errors that belong to the scenario, such as `/status of 409/`. */
  expect(...errors: readonly RegExp[]): void
}

export type Scenario = (visit: Visit) => Promise<void>
/** Scenarios by what they show. One with options of a context has a context of its own. */
export type Scenarios = Readonly<Record<string, Scenario | { readonly context: BrowserContextOptions; run: Scenario }>>

/**
 * Declares tests: scenarios one after the other, in the long run on every transport.
 * @param start returns the address of a server, which stops with the test
 */
export async function inBrowser(rooms: Rooms, start: Start): Promise<void> {
  const browser = await startBrowser()
  if (typeof browser === 'string') {
    t.test('scenarios in a browser', { skip: browser }, async () => {})
    return
  }
  t.teardown(() => browser.close())
  for (const transport of usualTransports) {
    t.test(transport, async t => {
      const url = await start(t, transport)
      const shared = new SharedPage(browser, url)
      for (const [room, scenarios] of Object.entries(rooms)) {
        for (const [at, [name, scenario]] of Object.entries(scenarios).entries()) {
          if (!isShown(`${room}: ${name}`, at)) continue
          await t.test(`${room}: ${name}`, t => visit(t, { browser, shared, url }, scenario))
        }
      }
    })
  }
}

type Rooms = Readonly<Record<string, Scenarios>>
type Start = (t: Test, transport: TransportName) => Promise<string>

/** Changes the hash of the page, and waits until the page has heard of it and no longer shows the place before. */
const showing = (place: string): string => `new Promise(done => {
  const before = location.href
  location.hash = ${JSON.stringify(`/${place}`)}
  if (location.href === before) done()
  else addEventListener('hashchange', () => done(), { once: true })
})`

interface Surroundings {
  readonly browser: Browser
  readonly shared: SharedPage
  readonly url: string
}

async function visit(t: Test, { browser, shared, url }: Surroundings, scenario: Scenarios[string]): Promise<void> {
  const own = typeof scenario === 'function' ? undefined : await newPage(browser, scenario.context)
  const run = typeof scenario === 'function' ? scenario : scenario.run
  const page: Page = own ?? (await shared.next())
  const watch = new Watch(page, url)
  const locator = (what: Locator | string | RegExp): Locator =>
    typeof what === 'string' || what instanceof RegExp ? page.getByText(what).first() : what.first()
  let failure: unknown
  try {
    await run({
      t,
      page,
      url,
      answers: () => watch.answers(),
      expect: (...errors) => watch.expect(...errors),
      open: async (place = '') => {
        if (page.url().startsWith(`${url}/explorer/`)) await page.evaluate(showing(place))
        else await page.goto(`${url}/explorer/#/${place}`)
      },
      sees: async what => {
        await locator(what).waitFor()
        t.pass(`sees ${what}`)
      },
      missing: async what => {
        await locator(what).waitFor({ state: 'hidden' })
        t.pass(`does not see ${what}`)
      },
      until: async (what, isTrue) => {
        const end = Date.now() + PATIENCE_MS
        while (!(await isTrue())) {
          if (Date.now() > end) throw new Error(`never: ${what}`)
          await new Promise(resolve => setTimeout(resolve, LOOK_MS))
        }
        t.pass(what)
      },
      settled: () => watch.settled(PATIENCE_MS),
      accessible: async () => {
        t.same(await accessFaults(page), [], `no error of accessibility at ${new URL(page.url()).hash}`)
      },
    })
  } catch (error) {
    failure = error
  }
  t.same(await watch.faults(), [], 'no errors and no reports')
  watch.stop()
  if (failure !== undefined || !t.passing()) {
    const folder = 'dist/test/browser/failures'
    mkdirSync(folder, { recursive: true })
    const picture = join(folder, `${t.fullname.replace(/^.* > (?=uws|node)/, '').replace(/\W+/g, '-')}.png`)
    await page.screenshot({ path: picture }).catch(() => {})
    t.comment(`at ${page.url()}, picture ${picture}`)
    await shared.discard()
  }
  await own?.context().close()
  if (failure !== undefined) throw failure
}
