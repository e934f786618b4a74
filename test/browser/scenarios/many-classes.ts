import type { Request } from 'playwright-core'
import type { Scenarios, Visit } from '../harness.ts'

/** Concurrent counts; two of the six connections of a browser are left to the view. */
const AT_A_TIME = 4
/** Requests of a first visit to the overview, on a screen that shows 24 classes. */
const MAX_REQUESTS = 32

/** Dataclasses that have been counted so far. */
const counted = async ({ answers }: Visit): Promise<string[]> =>
  (await answers()).flatMap(({ url }) => /\/rest\/(\w+)\?\$top=0$/.exec(url)?.slice(1) ?? [])

/** Tracks how many counts run at the same time. @returns the maximum so far */
function watchCounts({ page }: Visit): () => number {
  const running = new Set<Request>()
  let most = 0
  page.on('request', (request: Request) => {
    if (request.url().endsWith('?$top=0')) running.add(request)
    most = Math.max(most, running.size)
  })
  const end = (request: Request): boolean => running.delete(request)
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return () => most
}

/** A model of 60 dataclasses, as a new user sees it. */
export const manyClasses: Scenarios = {
  'the overview counts the classes that are in view, a few at a time': {
    context: {},
    run: async visit => {
      const { t, page, open, sees, settled, answers, accessible } = visit
      const most = watchCounts(visit)
      await open()
      await sees('The server has 60 classes')
      await settled()
      const first = await counted(visit)
      // Before anything leaves the view: an abandoned count ends later than the next one begins.
      t.ok(most() <= AT_A_TIME, `${most()} counts at the same time`)
      const requests = (await answers()).length
      t.ok(requests <= MAX_REQUESTS, `${requests} requests`)
      t.equal(new Set(first).size, first.length, 'none is counted twice')
      t.notOk(first.includes('TicketMessage'))
      await accessible()
      const cards = page.getByRole('region', { name: 'Classes' }).getByRole('listitem')
      const last = cards.filter({ has: page.getByRole('heading', { name: 'TicketMessage' }) })
      await last.scrollIntoViewIfNeeded()
      await sees(last.getByText('114 entities'))
      await settled()
      t.ok((await counted(visit)).length < 60, 'what was scrolled over is not counted')
    },
  },
  'a class that the palette leads to is shown in the list': async ({ page, open, sees, settled, accessible, t }) => {
    await open()
    await settled()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'A class, a page' }).fill('ticketm')
    await sees('1 entry')
    await page.keyboard.press('Enter')
    await sees(page.getByRole('heading', { name: 'TicketMessage', level: 1 }))
    await settled()
    const list = page.getByRole('navigation', { name: 'Classes' })
    for (const name of [/^TicketMessage 114$/, 'Model']) {
      const box = await list.getByRole('link', { name }).boundingBox()
      t.ok(box!.y > 0 && box!.y + box!.height < page.viewportSize()!.height, `${name} is in view`)
    }
    await accessible()
  },
  'the diagram shows all names, and what is searched in it': async ({ page, open, sees, until, accessible, t }) => {
    await open('$model')
    const picture = page.getByRole('application', { name: 'Diagram of the model' })
    await sees(picture.getByRole('link', { name: 'TicketMessage' }))
    const size = async (name: string): Promise<number> =>
      (await picture.getByText(name, { exact: true }).boundingBox())!.height
    const before = await size('Invoice')
    t.ok(before >= 10, `names of ${before} pixels can be read`)
    await accessible()
    await page.getByRole('searchbox', { name: 'Find a class or an attribute' }).fill('invoice')
    await sees('7 classes found')
    await page.getByRole('searchbox', { name: 'Find a class or an attribute' }).fill('dunning')
    await sees('2 classes found')
    await until('what is found is larger', async () => (await size('DunningLetter')) > before)
    await page.keyboard.press('Enter')
    await sees(page.getByRole('heading', { name: 'DunningLetter', level: 1 }))
  },
  'the list of classes is searched': async visit => {
    const { page, open, sees, missing, settled, accessible, t } = visit
    await open()
    await settled()
    const list = page.getByRole('navigation', { name: 'Classes' })
    await list.getByRole('searchbox', { name: 'Find a class' }).fill('line')
    await missing(list.getByRole('link', { name: /^Country/ }))
    await sees(list.getByRole('link', { name: 'ShipmentLine 100' }))
    await settled()
    t.ok((await counted(visit)).includes('InvoiceLine'))
    await accessible()
  },
}
