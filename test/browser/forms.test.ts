/** Forms of the explorer, with values that fields of a browser could change: what is not touched stays. */
import type { Test } from 'tap'
import type { Locator, Page } from 'playwright-core'
import { createTestServer } from '../../kernel/testing.ts'
import type { TransportName } from '../../kernel/transport/transport.ts'
import { inBrowser, type Scenarios, type Visit } from './harness.ts'

const LINES = 'a\n\n\nb\r\nc'
const ODD = '{"2":"\\u0000 \\ud800","10":[1e+21,12345678901234567000]}'
const model = {
  name: 'forms',
  dataClasses: {
    Note: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        name: { type: 'string' },
        text: { type: 'string' },
        large: { type: 'long64' },
        day: { type: 'date', simpleDate: true },
        time: { type: 'date' },
        odd: { type: 'object' },
      },
    },
  },
}

async function start(t: Test, transport: TransportName): Promise<string> {
  const server = await createTestServer({ model, config: { server: { transport } } })
  t.teardown(() => server.close())
  return server.url
}

const panel = (page: Page): Locator => page.getByRole('complementary', { name: 'Entity' })
const field = (page: Page, name: string): Locator => panel(page).getByLabel(name, { exact: true })

/** Creates a note, and opens its form. @returns its address */
async function openNote({ url, open, sees, page }: Visit, body: string): Promise<string> {
  const answer = await fetch(`${url}/rest/Note?$method=update`, { method: 'POST', body })
  const { __KEY } = (await answer.json()) as { __KEY: string }
  await open(`Note?entity=${__KEY}&edit=1`)
  await sees(field(page, 'text'))
  return `${url}/rest/Note(${__KEY})`
}

async function save({ page, sees }: Visit): Promise<string> {
  const request = page.waitForRequest(/method=update/)
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await sees(/was saved\.$/)
  return (await request).postData() ?? ''
}

const texts: Scenarios = {
  'line breaks stay, and new ones can be typed': async visit => {
    const { page, t, until, sees } = visit
    const address = await openNote(visit, JSON.stringify({ name: 'one line', text: LINES }))
    const stored = async (): Promise<string> => ((await (await fetch(address)).json()) as { text: string }).text
    await field(page, 'text').press('Control+End')
    await field(page, 'text').press('!')
    await save(visit)
    t.equal(await stored(), `${LINES}!`)
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('it is as before', async () => (await stored()) === LINES)
    // The page may get the answer after that; a form that opens earlier conflicts with it.
    await sees('Undone.')

    await panel(page).getByRole('link', { name: 'Edit' }).click()
    await field(page, 'name').fill('two')
    await field(page, 'name').press('Shift+Enter')
    await page.keyboard.type('lines')
    await field(page, 'name').press('Enter')
    await page.keyboard.type('.')
    await save(visit)
    const { name } = (await (await fetch(address)).json()) as { name: string }
    t.equal(name, 'two\nlines\n.', 'Enter is a line break while there are several lines')

    await panel(page).getByRole('link', { name: 'Edit' }).click()
    await field(page, 'name').fill('three')
    await field(page, 'name').press('Enter')
    await sees('three was saved.')
  },
}

const values: Scenarios = {
  'dates, large integers and objects are sent as they are': async visit => {
    const { page, t } = visit
    const time = '"2026-10-25T00:30:00.120Z"'
    const values = `"large":9223372036854775807,"day":"-000044-03-15","time":${time},"odd":${ODD}`
    const address = await openNote(visit, `{"name":"note",${values}}`)
    t.equal(await field(page, 'day').inputValue(), '-000044-03-15')
    t.equal(await field(page, 'large').inputValue(), '9223372036854775807')
    await field(page, 'text').fill('x')
    t.match(await save(visit), /^\{"__KEY":"\d+","__STAMP":1,"text":"x"\}$/)
    const after = await (await fetch(address)).text()
    t.ok(after.includes(values), after)

    await panel(page).getByRole('link', { name: 'Edit' }).click()
    await field(page, 'large').press('End')
    await field(page, 'large').press('Backspace')
    await field(page, 'large').press('6')
    await field(page, 'odd').press('Control+Home')
    await field(page, 'odd').press('ArrowRight')
    await page.keyboard.type('"b": 1.50,')
    await field(page, 'time').press('ArrowUp')
    const sent = await save(visit)
    t.match(sent, /"large":"9223372036854775806"/)
    t.ok(sent.replaceAll(/\s/g, '').includes(ODD.replaceAll(/\s/g, '').replace('{', '"odd":{"b":1.50,')), sent)
    t.match(sent, /"time":"20\d\d-\d\d-\d\dT\d\d:\d\d:00\.120Z"/)

    await panel(page).getByRole('link', { name: 'Edit' }).click()
    await field(page, 'time').press('Delete')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await visit.sees('This is not a valid date.')
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await page.getByRole('button', { name: 'Discard the changes', exact: true }).click()
  },
}

const conflicts: Scenarios = {
  'a text that is too large for the form stays as others have saved it': async visit => {
    const { page, t, sees, missing, expect } = visit
    expect(/status of 409/)
    const [short, mine, theirs] = ['short', 'm'.repeat(30_000), 't'.repeat(30_000)]
    const address = await openNote(visit, JSON.stringify({ name: mine, text: short }))
    const [, key] = /\((\d+)\)/.exec(address)!
    await missing(field(page, 'name'))
    await field(page, 'text').fill('mine')
    const body = JSON.stringify({ __KEY: key, __STAMP: 1, name: theirs, text: theirs })
    await fetch(`${visit.url}/rest/Note?$method=update`, { method: 'POST', body })
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('row', { name: /^text/ }).getByRole('radio').last().check()
    t.equal(await page.getByRole('row', { name: /^name/ }).count(), 0)
    await page.getByRole('button', { name: 'Take these values' }).click()
    await sees('Too large for this form, use an import: name, text')
    await field(page, 'large').fill('1')
    await save(visit)
    t.match(await (await fetch(address)).json(), { name: theirs, text: theirs, large: 1 })
  },
}

await inBrowser({ texts, values, conflicts }, start)
