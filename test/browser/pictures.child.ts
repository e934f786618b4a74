/**
 * Pictures of the explorer for the README, on the data of the demo:
 *
 *   npm run pictures
 */
import { mkdirSync } from 'node:fs'
import sharp from 'sharp'
import t from 'tap'
import { loadSentenceModel, startDemo } from '../support/servers/demo-server.ts'
import { startBrowser } from './chromium.ts'

const FOLDER = 'plugins/explorer/pictures'

interface Picture {
  readonly name: string
  readonly place: string
  /** An element that is present when the view is complete. */
  readonly sign: string
  readonly isDark?: boolean
  readonly height?: number
}

const PICTURES: readonly Picture[] = [
  {
    name: 'browse',
    place: 'Country?columns=flag,name:120,capital,population:140,region,cities&order=population+desc&entity=BR',
    sign: 'aside img',
  },
  {
    name: 'find',
    place:
      'Passage?filter=meaning+%3D+"Where+is+it+always+cold+and+windy%3F"&columns=__SCORE,countryName,topic,text:620',
    sign: 'tbody td',
  },
  {
    name: 'map',
    place: 'City?tab=chart&chart=$map&filter=country.region.name+%3D+"Northern+Europe"',
    sign: '.map canvas',
    height: 880,
  },
  {
    name: 'plan',
    place: 'Country?tab=plan&filter=borders.neighbour.name+%3D+Germany+and+area+>+30000',
    sign: 'main ol, main svg',
  },
  { name: 'model', place: '$model', sign: 'main svg', isDark: true },
  { name: 'chart', place: 'Movie?tab=chart&chart=imdbRating', sign: '.u-over, main svg' },
]

t.test('pictures', async t => {
  const browser = await startBrowser()
  if (typeof browser === 'string') return t.fail(browser)
  t.teardown(() => browser.close())
  const server = await startDemo(t)
  await loadSentenceModel(server)
  mkdirSync(FOLDER, { recursive: true })
  for (const { name, place, sign, isDark = false, height = 720 } of PICTURES) {
    const page = await browser.newPage({
      viewport: { width: 1200, height },
      locale: 'en-GB',
      colorScheme: isDark ? 'dark' : 'light',
    })
    await page.goto(`${server.url}/explorer/#/${place}`)
    await page.locator(sign).first().waitFor()
    await page.waitForLoadState('networkidle')
    // 256 colours are enough for flat surfaces, and take half the bytes.
    await sharp(await page.screenshot())
      .png({ palette: true })
      .toFile(`${FOLDER}/${name}.png`)
    await page.close()
    t.pass(name)
  }
})
