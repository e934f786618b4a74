import type { CDPSession, Page } from 'playwright-core'
import { isLong } from '../../support/runner/rounds.ts'
import type { Scenarios, Visit } from '../harness.ts'

/** Milliseconds. Times are checked in the long run only: a usual run counts requests and bytes instead. */
const MAX_ANSWERED_MS = 100
const MAX_INTERACTIVE_MS = 1_000
const KEYSTROKES = 8
const LOADS = isLong ? 5 : 1
/** Processor time of the page's thread. */
const MAX_TASK_MS = 400
const MAX_REQUESTS = 24
const MAX_BYTES = 90_000

/** Records when a key was pressed, and when the answer to the filter last changed. */
const NOTE_KEYS = `addEventListener('keydown', () => performance.mark('key'), true)
new MutationObserver(() => performance.mark('answered'))
  .observe(document.querySelector('#find-answer'), { childList: true, characterData: true, subtree: true })`
/** True once the last key has its answer, and the browser has listed the query, which it does a little later. */
const IS_ANSWERED = `performance.getEntriesByName('answered').length >= 2 &&
  performance.getEntriesByType('resource').some(({ name }) => name.includes('$top=0'))`
/** Milliseconds from the last key to its answer, except for the time of the query. */
const BESIDE_QUERY = `(() => {
  const last = list => list.at(-1)
  const query = last(performance.getEntriesByType('resource').filter(({ name }) => name.includes('$top=0')))
  return last(performance.getEntriesByName('answered')).startTime - last(performance.getEntriesByName('key')).startTime - query.duration
})()`
/** Records when the first row of the grid appears. */
const NOTE_ROWS = `new MutationObserver((_, observer) => {
  if (!document.querySelector('.grid td')?.textContent) return
  performance.mark('rows')
  observer.disconnect()
}).observe(document, { childList: true, characterData: true, subtree: true })`

/** Response times of the page. The smallest of several figures is that of the page; the others include the machine. */
export const speed: Scenarios = {
  'a keystroke in the filter is answered soon after its query': async ({ t, page, open, sees, until, expect }) => {
    // The text is not a valid filter until it is complete.
    expect(/status of 40[04].*\$filter/)
    await open('City')
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.click()
    await sees(page.locator('.cm-content'))
    await page.keyboard.type('ID = 7')
    await sees(/^1 found/)
    await page.evaluate(NOTE_KEYS)
    const times: number[] = []
    for (let typed = 0; typed < KEYSTROKES; typed++) {
      await page.evaluate('performance.clearMarks(); performance.clearResourceTimings()')
      // Changes the text of the answer each time: a number that is too long matches none of the cities.
      await page.keyboard.press(typed % 2 === 0 ? '9' : 'Backspace')
      await until('it is answered', () => page.evaluate(IS_ANSWERED))
      times.push(await page.evaluate(BESIDE_QUERY))
    }
    t.comment(`beside the query: ${times.map(Math.round)} ms`)
    if (isLong) t.ok(Math.min(...times) <= MAX_ANSWERED_MS, `in ${Math.round(Math.min(...times))} ms`)
  },
  'the grid is there within a second of a first visit': {
    context: {},
    run: async visit => {
      const { t, page } = visit
      const session: CDPSession = await page.context().newCDPSession(page)
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      await page.addInitScript(NOTE_ROWS)
      const times: number[] = []
      for (let load = 0; load < LOADS; load++) {
        await session.send('Network.clearBrowserCache')
        await page.goto('about:blank')
        times.push(await timeOfRows(visit))
      }
      if (isLong) t.ok(Math.min(...times) <= MAX_INTERACTIVE_MS, `in ${times.map(Math.round)} ms`)
      const [requests, bytes] = await loadedBy(page)
      const { metrics } = await session.send('Performance.getMetrics')
      const taskMs = 1000 * metrics.find(({ name }: { name: string }) => name === 'TaskDuration')!.value
      t.ok(requests <= MAX_REQUESTS, `${requests} requests`)
      t.ok(bytes <= MAX_BYTES, `${bytes} bytes`)
      if (isLong) t.ok(taskMs <= MAX_TASK_MS, `${Math.round(taskMs)} ms of the page's thread`)
    },
  },
}

/** Milliseconds from the navigation to the first row. */
async function timeOfRows({ page, open, until }: Visit): Promise<number> {
  await open('City')
  await until('rows are shown', () => page.evaluate("performance.getEntriesByName('rows').length > 0"))
  return page.evaluate("performance.getEntriesByName('rows')[0].startTime")
}

/** Requests of a page, and bytes that they took. */
const loadedBy = (page: Page): Promise<[number, number]> =>
  page.evaluate(`(() => {
    const all = ['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type))
    return [all.length, all.reduce((sum, { transferSize }) => sum + transferSize, 0)]
  })()`)
