import type { Visit, Scenarios } from '../harness.ts'
import { scrolled } from './scroll.ts'

const grid = ({ page }: Pick<Visit, 'page'>) => page.getByRole('grid')
/** Texts of the cells of a row, from 1, without its number. */
const cells = ({ page }: Pick<Visit, 'page'>, row: number) =>
  page.locator(`.grid tr[aria-rowindex="${row + 1}"] td`).allTextContents()

/** The grid: any number of rows, columns chosen, rows chosen. */
export const browse: Scenarios = {
  'the first rows, with labels of related entities': async visit => {
    await visit.open('City')
    await visit.sees('Rows 1–')
    visit.t.match(await cells(visit, 1), ['1', 'Canillo', '42.5676', '1.5976', 'no', 'Andorra', 'Canillo'])
    visit.t.equal(await grid(visit).getAttribute('aria-rowcount'), '75087')
    await visit.accessible()
  },
  'a jump to a row far away asks for a page around it': async visit => {
    await visit.open('City')
    await visit.page.getByLabel('Go to row').fill('70000')
    await visit.page.getByLabel('Go to row').press('Enter')
    await visit.sees(visit.page.locator('.grid tr[data-row="69999"] td').first())
    await visit.until('the row has come', async () => (await cells(visit, 70_000))[0] === '70000')
    const pages = (await visit.answers()).filter(({ url }) => url.includes('$entityset/'))
    visit.t.ok(pages.length <= 4, `${pages.length} pages`)
  },
  'scrolled from end to end by the bar': scrolled('City', 75_086),
  'ordered by a header, and by one more with shift': async visit => {
    await visit.open('Country?columns=name,area,region.name')
    const header = (name: string) => visit.page.getByRole('columnheader', { name, exact: true }).getByRole('button')
    await header('area').click()
    await header('area').click()
    await visit.until('the largest is first', async () => (await cells(visit, 1))[0] === 'Russia')
    await header('region.name').click({ modifiers: ['Shift'] })
    await visit.until('both are in the address', () => /order=area\+desc%2C\+region\.name/.test(visit.page.url()))
  },
  'images, objects and vectors are small, and whole on demand': async visit => {
    await visit.open('Country?columns=name,flag,info,cities')
    await visit.sees(visit.page.getByRole('img', { name: 'flag' }).first())
    await visit.until('the first image is there', () =>
      visit.page.evaluate(`document.querySelector('.grid img').naturalWidth > 0`),
    )
    await visit.page.locator('.grid td[data-column="2"]').first().hover()
    await visit.page.getByRole('button', { name: 'Show the whole value' }).first().click()
    await visit.sees(visit.page.getByRole('dialog').getByText('currencies'))
    await visit.page.keyboard.press('Escape')
    await visit.page.getByRole('link', { name: 'City: 188' }).click()
    await visit.until('its cities are shown', () => visit.page.url().includes('#/City?filter='))
    await visit.sees(/of 188/)
    await visit.open('Passage?columns=topic,embedding')
    await visit.sees(visit.page.getByRole('img', { name: /^The first \d\d of 512 elements$/ }).first())
    await visit.sees(visit.page.getByRole('gridcell', { name: '…' }))
  },
  'columns chosen over relations, in the address': async visit => {
    await visit.open('City?columns=name')
    await visit.sees('Rows 1–')
    await visit.page.getByRole('button', { name: 'Columns' }).click()
    await visit.page.getByText('country…').click()
    await visit.page.getByRole('checkbox', { name: /^capital/ }).check()
    await visit.accessible()
    await visit.page.keyboard.press('Escape')
    await visit.until('the column has come', async () => (await cells(visit, 1))[1] === 'Andorra la Vella')
    visit.t.match(visit.page.url(), /columns=name%2Ccountry\.capital/)
  },
  'cells and links are copied on a page of plain HTTP, which has no clipboard': async visit => {
    const { page, open, sees, until } = visit
    await open('Region?columns=name&filter=name+begin+%22M%22&order=name')
    await sees('Rows 1–')
    await page.evaluate(`
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: undefined })
      document.addEventListener('copy', ({ target }) => { window.copied = target.value })
    `)
    const copied = (text: RegExp) => until(`${text} is copied`, () => page.evaluate(`${text}.test(window.copied)`))
    await grid(visit).focus()
    await page.keyboard.press('Control+c')
    await copied(/^Melanesia$/)
    await page.keyboard.press('Control+a')
    await page.keyboard.press('Control+c')
    await copied(/^name\nMelanesia\nMicronesia\n/)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await button('Saved').click()
    await page.getByRole('textbox', { name: 'Name of this filter' }).fill('M')
    await button('Save').click()
    await button('Copy link').click()
    await sees('The link is in the clipboard.')
    await copied(/#\/Region\?filter=name/)
  },
  'keys move, choose, order and open': async visit => {
    await visit.open('Region?columns=code,name')
    await visit.sees('Rows 1–')
    await grid(visit).focus()
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await visit.page.keyboard.press(key)
    }
    await press('ArrowDown', 'ArrowDown', 'Space', 'Shift+ArrowDown', 'Shift+ArrowDown')
    await visit.sees('3 rows chosen')
    await press('Control+a')
    await visit.sees('30 rows chosen')
    await press('Escape', 'Control+Home', 'ArrowUp', 'ArrowRight', 'Enter')
    await visit.until('the order is in the address', () => visit.page.url().includes('order=name'))
    await press('Alt+ArrowLeft')
    await visit.until('the column has moved', () => visit.page.url().includes('columns=name%2Ccode'))
    await press('ArrowDown', 'Enter')
    await visit.until('the entity is open', () => visit.page.url().includes('entity='))
    const focused = (): Promise<string> => visit.page.evaluate("document.activeElement.getAttribute('aria-label')")
    await visit.until('the panel has the focus', async () => (await focused()) === 'Entity')
    await press('Tab', 'Escape')
    await visit.until('the grid has it again', async () => (await focused()) === 'Entities of Region')
    await visit.missing(visit.page.getByRole('complementary', { name: 'Entity' }))
  },
  'columns are resized and moved by the mouse': async visit => {
    const { page, open, sees, until } = visit
    await open('Region?columns=code,name')
    await sees('Rows 1–')
    const header = (name: string) => page.getByRole('columnheader', { name, exact: true })
    const { x, y, width, height } = (await header('code').boundingBox())!
    await page.mouse.move(x + width - 3, y + height / 2)
    await page.mouse.down()
    await page.mouse.move(x + 250, y + height / 2, { steps: 4 })
    await page.mouse.up()
    await until('it is wider', () => /columns=code%3A2[45]\d%2Cname$/.test(page.url()))
    await header('code').dragTo(header('name'))
    await until('it is the second', () => /columns=name%2Ccode%3A2[45]\d$/.test(page.url()))
    await until('its values are there', async () => /^[A-Z]/.test((await cells(visit, 1))[0] ?? ''))
  },
  'a write of others is noticed, and shown after a refresh': async visit => {
    await visit.open('Genre?columns=name&order=ID+desc')
    await visit.sees('Rows 1–12 of 12')
    const made = await visit.page.request.post(`${visit.url}/rest/Genre?$method=update`, {
      data: { name: 'Space Opera' },
    })
    const { __KEY } = (await made.json()) as { __KEY: string }
    await visit.page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await visit.sees('The data has changed.')
    await visit.page.getByRole('button', { name: 'Refresh' }).click()
    await visit.until('it is the first', async () => (await cells(visit, 1))[0] === 'Space Opera')
    await visit.page.request.post(`${visit.url}/rest/Genre(${__KEY})?$method=delete`)
  },
  'a set that the server has forgotten is made again': async visit => {
    await visit.open('City')
    await visit.sees('Rows 1–')
    const made = (await visit.answers()).find(({ url }) => url.includes('$method=entityset'))!
    const uri = (JSON.parse(made.text) as { __ENTITYSET: string }).__ENTITYSET
    visit.expect(/status of 404/)
    await visit.page.request.get(`${visit.url}${uri}?$method=release`)
    await visit.page.getByLabel('Go to row').fill('5000')
    await visit.page.getByLabel('Go to row').press('Enter')
    await visit.until('the row has come', async () => (await cells(visit, 5_000))[0] === '5000')
  },
}
