import type { Locator, Page, Route } from 'playwright-core'
import type { Scenarios, Visit } from '../harness.ts'

const panel = (page: Page): Locator => page.getByRole('complementary', { name: 'Entity' })
const button = (page: Page, name: string): Locator => page.getByRole('button', { name, exact: true })
const field = (page: Page, name: string | RegExp): Locator => panel(page).getByRole('textbox', { name })
const image = (red: number): Buffer =>
  Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="rgb(${red},0,0)"/></svg>`,
  )

/** Saves as another client. @returns the entity */
async function save({ url }: Visit, dataClass: string, values: object): Promise<{ __KEY: string; __STAMP: number }> {
  const body = JSON.stringify(values)
  const answer = await fetch(`${url}/rest/${dataClass}?$method=update`, { method: 'POST', body })
  return (await answer.json()) as { __KEY: string; __STAMP: number }
}

const read = async ({ url }: Visit, path: string): Promise<Record<string, unknown>> =>
  (await (await fetch(`${url}/rest/${path}`)).json()) as Record<string, unknown>

/** The panel of an entity: its content, its links, its changes. */
export const entity: Scenarios = {
  'relations are followed in both directions, and a trail leads back': async ({ page, open, sees, t }) => {
    await open('Country?entity=IS')
    await sees(panel(page).getByRole('heading', { name: 'Iceland' }))
    await sees(panel(page).getByRole('link', { name: /^cities / }))
    await panel(page)
      .getByRole('link', { name: /Northern Europe/ })
      .click()
    await sees(panel(page).getByRole('heading', { name: 'Northern Europe' }))
    const trail = page.getByRole('navigation', { name: 'Entities on the way here' })
    await trail.getByRole('link', { name: /Iceland/ }).click()
    await sees(panel(page).getByRole('heading', { name: 'Iceland' }))
    await page.goBack()
    await sees(panel(page).getByRole('heading', { name: 'Northern Europe' }))
    await trail.getByRole('link', { name: /Iceland/ }).click()
    await panel(page)
      .getByRole('link', { name: /^cities / })
      .click()
    await sees(page.getByRole('grid', { name: 'Entities of City' }))
    await sees(page.getByRole('gridcell', { name: 'Reykjavík', exact: true }))
    t.match(page.url(), /City\?filter=/)
  },
  'an entity is created, and that is undone': async visit => {
    const { page, open, sees, until } = visit
    await open('Genre')
    await page.getByRole('link', { name: 'New' }).click()
    await field(page, /^name/).fill('Space Opera')
    await button(page, 'Save').click()
    await sees('Space Opera was created.')
    await sees(panel(page).getByRole('heading', { name: 'Space Opera' }))
    await button(page, 'Undo').click()
    await sees('Undone.')
    await until('it is gone', async () => (await read(visit, 'Genre?$filter="name=space"')).__COUNT === 0)
  },
  'a change is saved with the stamp, and undone': async visit => {
    const { page, open, sees, until } = visit
    await open('Distributor?entity=1')
    const before = String((await read(visit, 'Distributor(1)')).name)
    await panel(page).getByRole('link', { name: 'Edit' }).click()
    await field(page, /^name/).fill(`${before} Ltd`)
    await button(page, 'Save').click()
    await sees(`${before} Ltd was saved.`)
    await button(page, 'Undo').click()
    await until('the name is as before', async () => (await read(visit, 'Distributor(1)')).name === before)
  },
  'what the server refuses stands at its field, and what was typed stays': async ({ page, open, sees, t, expect }) => {
    expect(/status of 4\d\d/)
    await open('Genre?entity=1&edit=1')
    await field(page, /^name/).fill('Comedy')
    await button(page, 'Save').click()
    await sees(panel(page).getByText(/unique/))
    t.equal(await field(page, /^name/).inputValue(), 'Comedy')
    t.equal(await field(page, /^name/).getAttribute('aria-invalid'), 'true')
  },
  'a conflict shows both versions, and merges what does not collide': async visit => {
    const { page, open, sees, until, expect } = visit
    expect(/status of 409/)
    const { __KEY, __STAMP } = await save(visit, 'Region', { code: 'middle-earth', name: 'Middle-earth' })
    await open(`Region?entity=${__KEY}&edit=1`)
    await field(page, /^name/).fill('Middle Earth')
    await save(visit, 'Region', { __KEY, __STAMP, parentCode: 'europe' })
    await button(page, 'Save').click()
    const conflict = page.getByRole('region', { name: 'Others have changed this entity too' })
    await sees(conflict.getByRole('row', { name: /Middle-earth.*Middle Earth/ }))
    await button(page, 'Take these values').click()
    await button(page, 'Save').click()
    await sees('Middle Earth was saved.')
    await until('both changes are there', async () => {
      const { name, parentCode } = await read(visit, `Region(${__KEY})`)
      return name === 'Middle Earth' && parentCode === 'europe'
    })
    // The page may still ask for what is related to the saved entity.
    await page.goto('about:blank')
    await fetch(`${visit.url}/rest/Region(${__KEY})?$method=delete`, { method: 'POST' })
  },
  'an image is chosen, seen before it is saved, and sent': async visit => {
    const { page, open, sees, until, t } = visit
    await save(visit, 'Country', OCEANIA)
    await open('Country?entity=XO&edit=1')
    const flag = panel(page).getByRole('group', { name: 'flag' })
    await flag
      .locator('input[type=file]')
      .setInputFiles({ name: 'flag.svg', mimeType: 'image/svg+xml', buffer: image(200) })
    await sees(flag.getByRole('img'))
    await button(page, 'Save').click()
    await sees('Oceania was saved.')
    await until('the image is shown', async () => (await panel(page).getByRole('img').count()) === 1)
    const stored = await fetch(`${visit.url}/rest/Country(XO)/flag?$imageformat=best&$expand=flag`)
    t.equal(await stored.text(), image(200).toString())
  },
  'an image that others have replaced too is chosen': async visit => {
    const { page, open, sees, until, expect, t } = visit
    expect(/status of 409/)
    const stored = `${visit.url}/rest/Country(XO)/flag`
    const put = (red: number): Promise<Response> =>
      fetch(stored, { method: 'PUT', headers: { 'Content-Type': 'image/svg+xml' }, body: image(red) })
    await save(visit, 'Country', OCEANIA)
    await put(1)
    await open('Country?entity=XO&edit=1')
    const flag = panel(page).getByRole('group', { name: 'flag' })
    const file = { name: 'mine.svg', mimeType: 'image/svg+xml', buffer: image(2) }
    await flag.locator('input[type=file]').setInputFiles(file)
    await put(3)
    // The version of the other entities cannot be read either.
    expect(/ERR_FAILED/)
    await page.route(/rest\/Country\(XO\)/, (route: Route) => route.abort())
    await button(page, 'Save').click()
    await sees(panel(page).getByRole('alert'))
    await page.unroute(/rest\/Country\(XO\)/)
    await button(page, 'Save').click()
    const row = page.getByRole('row', { name: /^flag/ })
    await sees(row.getByText('mine.svg'))
    await until('both are shown', async () => (await row.getByRole('img').count()) === 2)
    await row.getByRole('radio').last().check()
    await button(page, 'Take these values').click()
    await until('nothing is left to be saved', () => button(page, 'Save').isDisabled())
    await flag.locator('input[type=file]').setInputFiles(file)
    await button(page, 'Save').click()
    await sees('Oceania was saved.')
    const answer = await fetch(`${stored}?$imageformat=best&$expand=flag`)
    t.equal(await answer.text(), image(2).toString(), 'mine is stored')
    // The page asks for the image again.
    await visit.settled()
    await fetch(`${visit.url}/rest/Country(XO)?$method=delete`, { method: 'POST' })
  },
  'chosen rows are deleted, and those that stay are said': async visit => {
    const { page, open, sees } = visit
    for (const name of ['Aaa', 'Aab']) await save(visit, 'Director', { name })
    await open('Director?filter=name+begin+aa&order=name')
    await sees('Rows 1–2 of 2')
    await page.getByRole('grid').focus()
    await page.keyboard.press('Control+a')
    await button(page, 'Delete 2…').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await sees('2 were deleted.')
  },
  'an entity is deleted as it was shown, and brought back after other notices': async visit => {
    const { page, open, sees, until, t } = visit
    const { __STAMP } = await save(visit, 'Region', { code: 'atlantis', name: 'Atlantis' })
    await open('Region?entity=atlantis')
    await sees(panel(page).getByRole('heading', { name: 'Atlantis' }))
    await save(visit, 'Region', { __KEY: 'atlantis', __STAMP, name: 'Atlantis II' })
    await button(page, 'Delete').click()
    const dialog = page.getByRole('dialog', { name: /^Delete Atlantis/ })
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await sees(dialog.getByText(/^Others have changed it in the meantime/))
    await button(page, 'Show it as it is now').click()
    await sees(panel(page).getByRole('heading', { name: 'Atlantis II' }))
    await button(page, 'Delete').click()
    const deletion = page.waitForRequest(/method=delete/)
    await dialog.getByRole('button', { name: 'Delete' }).click()
    t.match((await deletion).headers()['if-match'], /^W\/"2-/, 'of this version alone')
    await sees('Atlantis II was deleted.')
    await page.getByText('Copy, save').click()
    await button(page, 'Copy a link to this view').click()
    await until('another notice is there', async () => (await page.locator('.notice').count()) === 2)
    await button(page, 'Undo').click()
    await sees('Undone.')
    await until('it is there', async () => (await read(visit, 'Region(atlantis)')).name === 'Atlantis II')
    await fetch(`${visit.url}/rest/Region(atlantis)?$method=delete`, { method: 'POST' })
  },
  'changes are not lost by a click elsewhere': async ({ page, open, sees }) => {
    await open('Genre?entity=2&edit=1')
    await field(page, /^name/).fill('Adventures')
    await page.getByRole('link', { name: /^Movie \d/ }).click()
    await sees(page.getByRole('dialog', { name: 'There are changes that are not saved' }))
    await button(page, 'Keep editing').click()
    await sees(field(page, /^name/))
    await page.getByRole('link', { name: /^Movie \d/ }).click()
    await button(page, 'Discard the changes').click()
    await sees(page.getByRole('grid', { name: 'Entities of Movie' }))
  },
  'a form that is opened before a save has been read back begins with what was saved': async visit => {
    const { page, open, sees, until, t } = visit
    await open('Distributor?entity=2&edit=1')
    await field(page, /^name/).fill('Once')
    const held: Route[] = []
    await page.route(/rest\/Distributor\(2\)\?/, (route: Route) => void held.push(route))
    await button(page, 'Save').click()
    await sees('Once was saved.')
    await panel(page).getByRole('link', { name: 'Edit' }).click()
    await sees(panel(page).getByText('Loading…'))
    await page.unroute(/rest\/Distributor\(2\)\?/)
    for (const route of held) await route.continue().catch(() => {})
    t.equal(await field(page, /^name/).inputValue(), 'Once')
    await field(page, /^name/).fill('Twice')
    await button(page, 'Save').click()
    await sees('Twice was saved.')
    await until('both saves are there', async () => (await read(visit, 'Distributor(2)')).name === 'Twice')
  },
}

const OCEANIA = {
  code: 'XO',
  code3: 'XOC',
  name: 'Oceania',
  officialName: 'Superstate of Oceania',
  landlocked: false,
  unMember: false,
  regionCode: 'europe',
}
