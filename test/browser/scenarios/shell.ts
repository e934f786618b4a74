import type { Route } from 'playwright-core'
import type { Scenarios } from '../harness.ts'

/** Header, list of classes, login, languages, themes. */
export const shell: Scenarios = {
  'the root of the server leads to the explorer': async ({ page, url, sees, t }) => {
    await page.goto(`${url}/`)
    await sees(page.getByRole('link', { name: /^City/ }))
    t.equal(page.url(), `${url}/explorer/`)
  },
  'a class that is not there is said so, without its name': async ({ page, open, sees, missing, t }) => {
    await open('Unheard')
    await sees('There is no class of this name here.')
    await missing(/Unheard/)
    t.equal(await page.title(), 'Tesser')
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
  'a user logs in, sees more, and leaves nothing of it behind': async ({
    page,
    open,
    sees,
    missing,
    settled,
    answers,
    expect,
    t,
  }) => {
    expect(/status of 401/)
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
    await page.getByRole('button', { name: 'Saved' }).click()
    const filter = page.getByRole('textbox', { name: 'Filter' })
    await filter.fill('worldwideGross > 2000000000')
    await filter.press('Enter')
    await sees(page.getByRole('gridcell', { name: 'Avatar', exact: true }))
    await page.getByRole('textbox', { name: 'Name of this filter' }).fill('Rich films')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await sees(page.getByRole('link', { name: 'Rich films' }))
    await page.getByRole('gridcell', { name: 'Avatar', exact: true }).dblclick()
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: 'worldwideGross' }).fill('1')
    await page.evaluate("document.querySelector('#session').showPopover()")
    await page.getByRole('button', { name: 'Log out' }).click()
    await sees(page.getByRole('button', { name: 'Guest' }))
    await sees(page.getByRole('gridcell').first())
    await settled()
    await missing(gross)
    t.notMatch(await page.content(), /worldwideGross|Rich films/)
    t.match(page.url(), /#\/Movie$/)
    const asked = (await answers()).map(({ url, status }) => `${status} ${url}`)
    t.same(
      asked.filter(each => /^4.*worldwideGross/.test(each)),
      [],
      'the guest does not ask for it',
    )
    await open()
    await sees(page.getByRole('heading', { name: 'Overview' }))
    await page.keyboard.press('Control+k')
    await sees(page.getByRole('dialog'))
    t.notMatch(await page.content(), /worldwideGross|Rich films/)
    await page.keyboard.press('Escape')
    const stored = "JSON.stringify({ ...localStorage, ['tesser.find.savedBy']: '' })"
    t.notMatch(await page.evaluate(stored), /worldwideGross/, 'only what was saved by hand waits for its user')
    await page.getByRole('button', { name: 'Log in' }).click()
    await dialog.getByRole('textbox', { name: 'User name' }).fill('ada')
    await dialog.getByLabel('Password').fill('correct horse')
    await dialog.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Discard the changes' }).click()
    await sees(page.getByRole('button', { name: 'Ada Lovelace' }))
    await missing(page.getByRole('dialog'))
    await page.keyboard.press('Control+k')
    await sees(page.getByRole('option', { name: /Rich films/ }))
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
  'a session that the server has ended is said, and what was typed waits for its user': async ({
    page,
    open,
    sees,
    missing,
    expect,
    t,
  }) => {
    expect(/status of 404.*worldwideGross/)
    const logIn = async (): Promise<void> => {
      const dialog = page.getByRole('dialog', { name: 'Log in' })
      await dialog.getByRole('textbox', { name: 'User name' }).fill('ada')
      await dialog.getByLabel('Password').fill('correct horse')
      await dialog.getByRole('button', { name: 'Log in' }).click()
      await sees(page.getByRole('button', { name: 'Ada Lovelace' }))
    }
    await open('Movie?columns=title,worldwideGross&order=worldwideGross%20desc')
    await page.getByRole('button', { name: 'Log in' }).click()
    await logIn()
    await page.getByRole('gridcell', { name: 'Avatar', exact: true }).dblclick()
    await page.getByRole('link', { name: 'Edit', exact: true }).click()
    await page.getByRole('textbox', { name: /^title/ }).fill('Avatar again')
    await page.evaluate("fetch('../rest/$directory/logout', { method: 'POST' }).then(answer => answer.text())")
    await page.getByRole('columnheader', { name: 'worldwideGross' }).click()
    await sees('Your session has ended: you have been logged out.')
    await sees(page.getByRole('button', { name: 'Guest' }))
    await sees(page.getByRole('columnheader', { name: 'title' }))
    await missing(page.getByRole('complementary', { name: 'Entity' }))
    t.notMatch(await page.content(), /worldwideGross|Avatar again/)
    await page.getByRole('status').getByRole('button', { name: 'Log in' }).click()
    await logIn()
    await page.getByRole('button', { name: 'Keep editing' }).click()
    t.equal(await page.getByRole('textbox', { name: /^title/ }).inputValue(), 'Avatar again')
  },
  'what is refused to guests offers to log in': async ({ page, open, sees, expect }) => {
    expect(/status of 403/)
    const body = JSON.stringify({ __ERROR: [{ message: 'no rights', errCode: 1, componentSignature: 'dbmg' }] })
    await page.route(/rest\/Region\(europe\)/, (route: Route) => route.fulfill({ status: 403, body }))
    await open('Region?entity=europe')
    await page.getByRole('alert').getByRole('button', { name: 'Log in' }).first().click()
    await sees(page.getByRole('dialog', { name: 'Log in' }))
    await page.unroute(/rest\/Region\(europe\)/)
  },
  'an answer that does not come is said, and asked for again': async ({ page, open, sees, missing, expect, t }) => {
    expect(/ERR_FAILED/)
    const panel = page.getByRole('complementary', { name: 'Entity' })
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' })
    const unreached = page.getByText('The server cannot be reached. Check the connection, then try again.')
    const address = /rest\/Region\(europe\)/
    await open('Region')
    await page.route(address, (route: Route) => route.abort())
    await open('Region?entity=europe')
    await sees(panel.getByText(/^The server cannot be reached/))
    await page.unroute(address)
    await again.first().click()
    await sees(panel.getByRole('heading', { name: 'Europe' }))

    for (const chart of ['chart=latitude', 'chart=%24map']) {
      await page.route(/rest\/City/, (route: Route) => route.abort())
      await open(`City?tab=chart&${chart}`)
      await sees(unreached)
      await page.unroute(/rest\/City/)
      await again.first().click()
      await missing(unreached)
    }

    const broken = `const ask = fetch
      window.fetch = async (...request) => {
        window.fetch = ask
        return new Response(new ReadableStream({ pull: stream => stream.error(new TypeError('network error')) }))
      }`
    await page.evaluate(broken)
    await open('City?tab=chart&chart=longitude')
    await sees('The answer of the server was interrupted. Please try again.')
    t.notMatch(await page.getByRole('alert').first().textContent(), /network error|Failed to fetch/)
  },
}
