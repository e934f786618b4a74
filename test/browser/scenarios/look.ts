import type { Route } from 'playwright-core'
import { readFileSync } from 'node:fs'
import type { Scenarios, Visit } from '../harness.ts'

const field = (filter: string): string => `filter=${new URLSearchParams({ x: filter }).toString().slice(2)}`

/** Waits until the filter in the address is this one. */
const filtered = ({ page, until }: Visit, filter: RegExp): Promise<void> =>
  until(`the filter is ${filter}`, () => filter.test(new URLSearchParams(page.url().split('?')[1]).get('filter') ?? ''))

/** Text of the file that a click saves. */
async function saved({ page }: Visit, button: string): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: button, exact: true }).click(),
  ])
  return readFileSync(await download.path(), 'latin1')
}

/** Charts, plans, the diagram of the model, and copied and saved data. */
export const look: Scenarios = {
  'a histogram, a bar of which narrows the filter': async visit => {
    await visit.open('Movie?tab=chart&chart=imdbRating')
    await visit.page.getByRole('link', { name: /^7 to 7\.5: \d+$/ }).focus()
    await visit.accessible()
    await visit.page.keyboard.press('Enter')
    await filtered(visit, /^imdbRating >= 7 and imdbRating < 7\.5$/)
    await visit.sees(visit.page.getByRole('link', { name: /^7\.4 to 7\.42: \d+$/ }))
  },
  'a time series with its figures': async visit => {
    const { open, page, sees, t } = visit
    await open('Movie?tab=chart&chart=releaseDate')
    await sees(page.locator('.u-over'))
    await page.getByText('Figures', { exact: true }).click()
    await visit.accessible()
    await page.getByRole('combobox', { name: 'Steps' }).selectOption('decade')
    await page.getByRole('link', { name: '1990–' }).click()
    await filtered(visit, /^releaseDate >= "1990-01-01" and releaseDate < "2000-01-01"$/)
    await page.getByRole('link', { name: '2000–' }).waitFor({ state: 'detached' })
    t.match(await saved(visit, 'Figures as CSV'), /^from,to,count\r\n1990-01-01T00:00:00.000Z,/)
    t.match(await saved(visit, 'Picture as PNG'), /^.PNG/)
  },
  'a time series where the language of the browser is none': {
    context: {},
    run: async ({ open, page, sees }) => {
      await page.addInitScript("Object.defineProperty(Navigator.prototype, 'language', { get: () => 'en-US@posix' })")
      await open('Movie?tab=chart&chart=releaseDate')
      await sees(page.locator('.u-over'))
    },
  },
  'the most frequent values through a relation': async visit => {
    await visit.open('City?tab=chart&chart=country.name')
    await visit.sees(visit.page.getByRole('row', { name: /^Brazil 5,651 7\.5/ }))
    await visit.page.getByRole('combobox', { name: 'Shown' }).selectOption('average')
    await visit.sees(visit.page.getByRole('row', { name: /^Brazil 5,651 -16\.47/ }))
    await visit.accessible()
    visit.t.match(await saved(visit, 'Picture as PNG'), /^.PNG/)
    await visit.page.getByRole('link', { name: 'Brazil' }).click()
    await filtered(visit, /^country\.name = "Brazil"$/)
  },
  'the plan of a filter': async ({ open, page, sees, accessible }) => {
    await open(`City?tab=plan&${field('country.region.name = "Northern Europe" and latitude > 60')}`)
    await sees('Join on Table : Country : City.countryCode = Country.code')
    await sees(page.getByText(/^[\d.]+ ms$/))
    await sees('16 rows')
    await open(`City?tab=plan&${field('country.region.name = "Northern Europe" and latitude > 1000')}`)
    await sees(page.getByText('not needed'))
    await accessible()
  },
  'a chart of entities by similarity is one of those that have the vector': async ({
    open,
    sees,
    page,
    answers,
    t,
  }) => {
    await open('Passage?tab=chart&chart=topic&similar=embedding:12')
    await sees(page.getByRole('row', { name: /^history 951/ }))
    const asked = (await answers()).map(({ url }) => decodeURIComponent(url)).filter(url => /topic\?/.test(url))
    t.ok(asked.length > 0 && asked.every(url => url.includes('/$entityset/')), asked.join('\n'))
  },
  'the model as a diagram': async visit => {
    const { open, page, sees, t } = visit
    await open('$model')
    await sees(page.getByRole('application', { name: 'Diagram of the model' }))
    await page.getByRole('searchbox', { name: 'Find a class or an attribute' }).fill('imdb')
    await sees('1 class found')
    await page.getByText('Classes and relations as a list').click()
    await sees('neighbour: to one Country')
    await visit.accessible()
    t.match(await saved(visit, 'Picture as SVG'), /^<svg .*>Movie<.*<\/svg>$/s)
    await page.getByRole('searchbox', { name: 'Find a class or an attribute' }).press('Enter')
    await sees(page.getByRole('heading', { name: 'Movie' }))
  },
  'a selection copied as curl': async ({ open, page, sees, until, t, url }) => {
    // All running browsers share one clipboard.
    await open(`City?columns=name,country.name&${field("name = 'São Paulo'")}`)
    await page.evaluate('navigator.clipboard.writeText = async text => { window.copied = text }')
    await page.getByText('Copy, save').click()
    await page.getByRole('button', { name: 'Copy as curl', exact: true }).click()
    await sees('Copied.')
    const address = `${url}/rest/City?$filter=${encodeURIComponent(`"name = 'São Paulo'"`).replaceAll("'", `'\\''`)}&$attributes=name%2Ccountry.name`
    t.equal(await page.evaluate('window.copied'), `curl -g '${address}'`)
    await open('Passage?similar=embedding:12')
    await sees(page.getByRole('heading', { name: 'Passage', level: 1 }))
    await page.getByText('Copy, save').click()
    await page.getByRole('button', { name: 'Copy as curl with $query' }).click()
    await until('the vector is copied', async () =>
      /^curl .*Passage\/\$query' .*"\$filter":"embedding > :1","\$params":"\[\{.*vector/.test(
        await page.evaluate('window.copied'),
      ),
    )
  },
  'missing values lead to the entities that lack them': async visit => {
    await visit.open('Movie?tab=chart&chart=runtime')
    await visit.page.getByRole('link', { name: /^1,992 \(62/ }).click()
    await filtered(visit, /^runtime = null$/)
    await visit.sees('No value to show.')
  },
}

/** Entities on a map. */
export const maps: Scenarios = {
  'a sample on the map comes from everywhere, shows how far it is, and is given up': async visit => {
    const { page, open, sees, answers, settled, t } = visit
    let asked = 0
    await page.route(/entityset.*skip=/, (route: Route) => {
      if (++asked <= 50) return route.continue()
    })
    await open('City?tab=chart&chart=$map')
    await sees(page.locator('progress[value="0.25"]'))
    await visit.accessible()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await sees('Cancelled.')
    await settled()
    t.equal(asked, 54, 'of 200 pages, four at a time')
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Try again' }).click()
    await sees('20,000 points. A sample of 75,086 entities.')
    await settled()
    const read = new Set(
      (await answers()).flatMap(({ url }) =>
        Number(/\$entityset.*\$skip=(\d+)/.exec(decodeURIComponent(url))?.[1] ?? []),
      ),
    )
    t.equal(read.size, 200, 'pages')
    t.ok(Math.max(...read) > 74_000)
  },
  'a rectangle on the map narrows the filter': async visit => {
    const { open, page, sees } = visit
    await open('Country?tab=chart&chart=$map')
    await sees('250 points.')
    await page.getByRole('button', { name: 'Choose an area' }).click()
    const { x, y } = (await page.locator('.map canvas').boundingBox())!
    await page.mouse.move(x + 300, y + 60)
    await page.mouse.down()
    await page.mouse.move(x + 600, y + 240, { steps: 4 })
    await page.mouse.up()
    await filtered(visit, /^latitude >= /)
  },
  'a map, narrowed to what it shows': async visit => {
    const { open, page, sees, settled, t } = visit
    await open('Country?tab=chart&chart=$map')
    await sees('250 points.')
    // The land comes later, and points are drawn in the next frame.
    await settled()
    await visit.accessible()
    const picture = await saved(visit, 'Picture as PNG')
    t.match(picture, /^.PNG/)
    t.ok(picture.length > 20_000, `${picture.length} bytes, with the land and the points`)
    await page.getByRole('application', { name: 'Map' }).focus()
    for (const key of ['+', '+', '+']) await page.keyboard.press(key)
    await page.getByRole('button', { name: 'Narrow to what is shown' }).click()
    await filtered(
      visit,
      /^latitude >= -?[\d.]+ and latitude < -?[\d.]+ and longitude >= -?[\d.]+ and longitude < -?[\d.]+$/,
    )
    await sees(/^\d\d points\./)
  },
}
