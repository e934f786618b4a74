import type { Scenarios } from '../harness.ts'

/** Everything that the first ten minutes cover, in one go. */
export const stranger: Scenarios = {
  'the first ten minutes': async visit => {
    const { page, url, open, sees, missing, until, expect, t } = visit
    // A conflict, a model that is still loading, and a filter that is not finished.
    expect(/status of (409|503)/, /status of 40[04].*\$filter/)
    const panel = page.getByRole('complementary', { name: 'Entity' })
    const button = (name: string) => page.getByRole('button', { name, exact: true })

    await page.goto(url)
    await page.getByRole('navigation', { name: 'Classes' }).getByRole('link', { name: /^City/ }).click()
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.fill('reykjavik')
    await sees(/^1 found/)
    await filter.press('Enter')
    await page.getByRole('gridcell', { name: 'Reykjavík', exact: true }).dblclick()
    await sees(panel.getByRole('heading', { name: 'Reykjavík' }))
    await panel
      .getByRole('link', { name: /Iceland/ })
      .first()
      .click()
    await sees(panel.getByRole('heading', { name: 'Iceland' }))

    await panel.getByRole('link', { name: 'Edit' }).click()
    await panel.getByRole('textbox', { name: 'capital' }).fill('Akureyri')
    const { __STAMP } = (await (await fetch(`${url}/rest/Country(IS)`)).json()) as { __STAMP: number }
    const theirs = JSON.stringify({ __KEY: 'IS', __STAMP, population: 400_000 })
    await fetch(`${url}/rest/Country?$method=update`, { method: 'POST', body: theirs })
    await button('Save').click()
    await sees('Others have changed this entity too')
    await button('Take these values').click()
    await button('Save').click()
    await sees('Iceland was saved.')

    await panel.getByRole('link', { name: 'Edit' }).click()
    const flag = { name: 'flag.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(FLAG) }
    await panel.getByRole('group', { name: 'flag' }).locator('input[type=file]').setInputFiles(flag)
    await button('Save').click()
    await until('all of it is saved', async () => {
      const { capital, population } = (await (await fetch(`${url}/rest/Country(IS)`)).json()) as Record<string, unknown>
      const image = await (await fetch(`${url}/rest/Country(IS)/flag?$imageformat=best&$expand=flag`)).text()
      return capital === 'Akureyri' && population === 400_000 && image === FLAG
    })
    // The server has it before the page knows: until then, the form would hold changes that are not saved.
    await missing(panel.locator('form'))

    await open('Passage')
    await button('By meaning').click()
    await page.getByRole('textbox', { name: 'A sentence, or some words' }).fill('Where is it always cold and windy?')
    await button('Search').click()
    await sees('strong winds persist throughout the year')
    await page.getByRole('link', { name: 'Plan' }).click()
    await sees(page.getByText(/^[\d.]+ ms$/))

    await open('Movie?columns=title,worldwideGross')
    await sees(page.getByRole('columnheader', { name: 'title' }))
    t.equal(await page.getByRole('columnheader', { name: 'worldwideGross' }).count(), 0)
    await button('Log in').click()
    const dialog = page.getByRole('dialog', { name: 'Log in' })
    await dialog.getByRole('textbox', { name: 'User name' }).fill('ada')
    await dialog.getByLabel('Password').fill('correct horse')
    await dialog.getByRole('button', { name: 'Log in' }).click()
    await sees(page.getByRole('columnheader', { name: 'worldwideGross' }))
  },
}

const FLAG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="30" height="20" fill="navy"/></svg>'
