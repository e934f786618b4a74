import type { Scenarios } from '../harness.ts'

/** Header, list of classes, login, languages, themes. */
export const shell: Scenarios = {
  'the root of the server leads to the explorer': async ({ page, url, sees, t }) => {
    await page.goto(`${url}/`)
    await sees(page.getByRole('link', { name: /^City/ }))
    t.equal(page.url(), `${url}/explorer/`)
  },
  'a class that is not there is said so': async ({ open, sees }) => {
    await open('Unheard')
    await sees('There is no class “Unheard” here.')
  },
  'German, chosen by hand, outlives the page': async ({ page, open, sees }) => {
    await open()
    await page.getByRole('combobox', { name: 'Language' }).selectOption('de')
    await sees(page.getByRole('navigation', { name: 'Klassen' }))
    await page.reload()
    await sees(page.getByRole('navigation', { name: 'Klassen' }))
  },
  'German, as the browser prefers it': {
    context: { locale: 'de-CH' },
    run: async ({ page, open, sees }) => {
      await open()
      await sees(page.getByRole('navigation', { name: 'Klassen' }))
    },
  },
  'a user logs in, sees more, and leaves nothing of it behind': async ({ page, open, sees, missing, expect, t }) => {
    expect(/status of 401/, /status of 404.*worldwideGross/)
    const gross = page.getByRole('columnheader', { name: 'worldwideGross' })
    await open('Movie?columns=title,worldwideGross')
    await sees(page.getByRole('columnheader', { name: 'title' }))
    await missing(gross)
    await page.getByRole('button', { name: 'Log in' }).click()
    const dialog = page.getByRole('dialog', { name: 'Log in' })
    await dialog.getByRole('textbox', { name: 'User name' }).fill('ada')
    await dialog.getByLabel('Password').fill('wrong')
    await dialog.getByRole('button', { name: 'Log in' }).click()
    await sees(dialog.getByRole('alert'))
    await dialog.getByLabel('Password').fill('correct horse')
    await dialog.getByRole('button', { name: 'Log in' }).click()
    await sees(gross)
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.fill('worldwideGross > 2000000000')
    await filter.press('Enter')
    await sees(page.getByRole('gridcell', { name: 'Avatar', exact: true }))
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    await page.getByRole('button', { name: 'Log out' }).click()
    await sees(page.getByRole('button', { name: 'Guest' }))
    await missing(gross)
    await open()
    await sees(page.getByRole('heading', { name: 'Overview' }))
    await page.keyboard.press('Control+k')
    await sees(page.getByRole('dialog'))
    await missing(/worldwideGross/)
    t.notMatch(await page.evaluate('JSON.stringify(localStorage)'), /worldwideGross/)
  },
  'the theme, chosen by hand, outlives the page': async ({ page, open, until }) => {
    await open()
    const ground = (): Promise<string> => page.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('Dark')
    await until('the ground is dark', async () => (await ground()) !== light)
    await page.reload()
    await until('the ground is dark again', async () => (await ground()) !== light)
  },
}
