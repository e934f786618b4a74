import { readFileSync } from 'node:fs'
import type { Locator, Page, Route } from 'playwright-core'
import type { Scenarios, Visit } from '../harness.ts'

/** Files of entities: exported, and imported. */

const button = (page: Page, name: string | RegExp): Locator => page.getByRole('button', { name, exact: true })
const dialog = (page: Page): Locator => page.getByRole('dialog')

/** A file that is being saved: its name and its text. */
async function savedBy(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const waiting = page.waitForEvent('download')
  await act()
  const download = await waiting
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

async function exported({ page }: Visit, format: RegExp, attributes: RegExp) {
  await page.getByText('Copy, save').click()
  await button(page, 'Export…').click()
  await page.getByRole('radio', { name: format }).check()
  await page.getByRole('radio', { name: attributes }).check()
  return savedBy(page, () => button(page, 'Export').click())
}

const CAPITALS = `City?columns=name,country.name&order=name&filter=${encodeURIComponent('isCapital = true')}`

/** Exports by guests, and the import that they do not see. */
export const exports: Scenarios = {
  'an export of what is shown, filtered and ordered, as CSV': async visit => {
    const { page, open, sees, accessible, t } = visit
    await open(CAPITALS)
    await page.getByText('Copy, save').click()
    await button(page, 'Export…').click()
    await accessible()
    await page.keyboard.press('Escape')
    const { name, text } = await exported(visit, /^CSV/, /^Those of the grid/)
    await sees('City is being saved as CSV.')
    t.equal(name, 'City.csv')
    const lines = text.split('\r\n')
    t.same([lines[0], lines[1], lines.length], ['name,country.name', 'Abu Dhabi,United Arab Emirates', 248])
  },
  'an export as NDJSON and JSON, of all attributes': async visit => {
    const { open, t } = visit
    await open(CAPITALS)
    const lines = await exported(visit, /^NDJSON/, /^Those of the grid/)
    t.equal(lines.name, 'City.ndjson')
    t.match(JSON.parse(lines.text.split('\n')[0]!), { name: 'Abu Dhabi', country: { name: 'United Arab Emirates' } })
    const all = await exported(visit, /^JSON/, /^All/)
    t.equal(all.name, 'City.json')
    const entities = JSON.parse(all.text) as Record<string, unknown>[]
    t.equal(entities.length, 246)
    t.match(entities[0], { name: 'Abu Dhabi', isCapital: true, countryCode: 'AE' })
  },
  'an import is not offered to guests': async ({ page, open, sees, answers, settled, t }) => {
    await open('City')
    await sees(page.getByRole('gridcell').first())
    await settled()
    t.equal(await button(page, 'Import…').count(), 0)
    t.notOk(
      (await answers()).some(({ url }) => url.includes('$import')),
      'the server is not asked',
    )
  },
  'an export that is refused says so': async visit => {
    const { page, open, sees, expect } = visit
    expect(/status of 503/)
    await open(CAPITALS)
    const body = JSON.stringify({ __ERROR: [{ message: 'no space', errCode: 1, componentSignature: 'dbmg' }] })
    await page.route(/format=csv/, (route: Route) => route.fulfill({ status: 503, body }))
    await page.getByText('Copy, save').click()
    await button(page, 'Export…').click()
    await button(page, 'Export').click()
    await sees(dialog(page).getByText('no space'))
    await page.unroute(/format=csv/)
  },
}

const file = (name: string, text: string) => ({ name, mimeType: '', buffer: Buffer.from(text) })

/** Opens the import of companies with a file. */
async function choose({ page, open }: Visit, name: string, text: string): Promise<void> {
  await open('Company')
  await button(page, 'Import…').click()
  await dialog(page)
    .getByLabel(/^Drop a file here/)
    .setInputFiles(file(name, text))
}

/** Drops a file onto the view. @param file an expression of the browser */
async function dropOnto(page: Page, file: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(${file})
    return transfer
  })()`)
  for (const event of ['dragover', 'drop']) await page.locator('.view').dispatchEvent(event, { dataTransfer })
}

const countOf = async (url: string, filter: string): Promise<number> =>
  ((await (await fetch(`${url}/rest/Company?$top=0&$filter="${filter}"`)).json()) as { __COUNT: number }).__COUNT

/** Rows that no server imports in the second after which the page shows how many have been read. */
const MANY = 600_000
const COMPANIES = 'ID;Company;Net worth;remark\n901;Import One;1,5;x\n902;Import Two;many;\n903;Import Three;2;\n'

/** Imports by a guest who may administrate. */
export const imports: Scenarios = {
  'an import is mapped, previewed, tried, run, and its wrong rows are saved as a file': async visit => {
    const { page, sees, missing, accessible, t, url } = visit
    await choose(visit, 'companies.csv', COMPANIES)
    await sees(/^The first 3 rows, as the server reads them/)
    const attribute = (column: string): Locator =>
      page.getByRole('combobox', { name: `Attribute of the column ${column}` })
    t.equal(await attribute('Company').inputValue(), '')
    await attribute('Company').selectOption('name')
    await attribute('Net worth').selectOption('name')
    await sees('Several columns have the attribute name: leave out all but one.')
    await attribute('Net worth').selectOption('revenues')
    await page.getByText('How the file is read').click()
    await page.getByRole('combobox', { name: 'Numbers' }).selectOption(',')
    await sees(page.getByRole('cell', { name: '1.5', exact: true }))
    await sees(
      dialog(page)
        .getByText(/^revenues /)
        .last(),
    )
    await accessible()
    await button(page, 'Try').click()
    await sees('3 rows read: 2 would be inserted, 1 rejected.')
    await sees(page.getByRole('rowheader', { name: '3', exact: true }))
    await accessible()
    t.equal(await countOf(url, 'ID > 900'), 0)
    await button(page, 'Import').click()
    await sees('3 rows read: 2 inserted, 1 rejected.')
    const rejected = await savedBy(page, () => button(page, 'Download 1 rejected row').click())
    t.equal(rejected.name, 'companies.csv.errors.ndjson')
    t.match(rejected.text, /^\{"line":3,"errors":\[".*"row":\{"ID":"902","name":"Import Two","revenues":"many"\}\}\n$/)
    await page.getByRole('link', { name: 'Show what has changed since the beginning' }).click()
    await missing(dialog(page))
    await sees(page.getByRole('gridcell', { name: 'Import Three' }))
    await sees('2 entities')
    await choose(visit, rejected.name, rejected.text.replaceAll('many', '3'))
    await button(page, 'Import').click()
    await sees('1 row read: 1 inserted.')
    t.equal(await countOf(url, 'ID > 900'), 3)
  },
  'an import by a file that is dropped onto the table, in German': {
    context: { locale: 'de-DE' },
    run: async ({ page, open, sees, accessible }) => {
      await open('Company')
      await sees(page.getByRole('gridcell').first())
      await sees(button(page, 'Importieren…'))
      await dropOnto(page, `new File(['ID,NAME\\n1,Besetzt\\n'], 'a.csv')`)
      await sees('Die erste Zeile, wie der Server sie liest. Noch wird nichts gespeichert.')
      await sees(page.getByRole('combobox', { name: 'Attribut der Spalte NAME' }))
      await accessible()
      await button(page, 'Probieren').click()
      await sees('1 Zeile gelesen: 0 würden eingefügt, 1 abgelehnt.')
      await page.getByRole('combobox', { name: /^Zeilen, deren Schlüssel/ }).selectOption('skip')
      await button(page, 'Probieren').click()
      await sees('1 Zeile gelesen: 0 würden eingefügt, 1 ausgelassen.')
    },
  },
  'an import that is cancelled says what it has saved': async visit => {
    const { page, open, sees, t, url } = visit
    await open('Company')
    await sees(button(page, 'Import…'))
    // Made in the browser: a file of this size would take long on its way there.
    await dropOnto(page, `new File(['name\\n', 'Import Many\\n'.repeat(${MANY})], 'many.csv')`)
    await sees(/^The first 20 rows/)
    await button(page, 'Import').click()
    await sees(/[1-9][\d,]* rows read$/)
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await sees(/It was ended before the end of the file\.$/)
    const summary = await page.getByText(/rows read:/).textContent()
    const inserted = Number(/([\d,]+) inserted/.exec(summary ?? '')?.[1]?.replaceAll(',', ''))
    t.ok(inserted > 0 && inserted < MANY, `${inserted} rows were saved`)
    t.equal(await countOf(url, "name = 'Import Many'"), inserted)
  },
  'an import of a file that is not one of rows': async visit => {
    const { page, sees, expect } = visit
    expect(/status of 400/)
    await choose(visit, 'companies.xlsx', 'PK')
    await sees('“companies.xlsx” is packed, or belongs to another program. Save it as CSV, NDJSON or JSON.')
    await page.keyboard.press('Escape')
    await choose(visit, 'companies.json', '{"name":"A"}')
    await sees(/where an array should begin/)
    await page.getByText('How the file is read').click()
    await page.getByRole('combobox', { name: 'Format' }).selectOption('ndjson')
    await sees(/^The first row, as the server reads it/)
  },
}
