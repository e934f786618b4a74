/** The examples of typed clients in a browser: a page without a build, and React with TanStack Query. */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import t, { type Test } from 'tap'
import type { TransportName } from '../../kernel/transport/transport.ts'
import { runCompiler, runTesser } from '../support/commands/author-package.ts'
import { startServer } from '../support/servers/test-server.ts'
import { writeProject } from '../support/clients/typed-client.ts'
import { inBrowser, type Scenarios } from './harness.ts'

const EXAMPLES = 'plugins/examples'
const PACKAGES = resolve('test/browser/node_modules')
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const film = (title: string, releaseDate: string) => ({ title, releaseDate, directorID: 1, genreID: 1 })
/** A small part of the demo's data. */
const fixture = {
  model: JSON.parse(readFileSync('config/demo/model.json', 'utf8')),
  rows: {
    Region: [{ code: 'western-europe', name: 'Western Europe' }],
    Country: [
      {
        ...{
          code: 'LI',
          code3: 'LIE',
          name: 'Liechtenstein',
          officialName: 'Principality of Liechtenstein',
          flag: PNG,
        },
        ...{ landlocked: true, unMember: true, regionCode: 'western-europe' },
      },
    ],
    City: ['Vaduz', 'Schaan', 'Balzers'].map(name => ({
      ...{ name, latitude: 47, longitude: 9, isCapital: name === 'Vaduz', countryCode: 'LI' },
    })),
    Genre: [{ name: 'Drama' }, { name: 'Western' }],
    Director: [{ name: 'Akira Kurosawa' }, { name: 'Agnès Varda' }],
    Movie: [film('Ran', '1985-06-01'), film('Madadayo', '1993-04-17')],
  },
}

/** Folder with the pages of both examples; that of React is bundled. */
async function pages(t: Test): Promise<string> {
  const folder = t.testdir()
  for (const name of ['client-page', 'client-react'])
    cpSync(join(EXAMPLES, name), join(folder, name), { recursive: true })
  const react = join(folder, 'client-react')
  t.match(await runTesser(react, 'client', '--model', resolve('config/demo/model.json')), { code: 0 })
  symlinkSync(PACKAGES, join(react, 'node_modules'))
  const outfile = join(folder, 'client-react/main.js')
  await build({
    ...{ entryPoints: [join(react, 'main.tsx')], outfile, bundle: true, minify: true, format: 'esm', jsx: 'automatic' },
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'error',
  })
  const site = join(folder, 'site')
  mkdirSync(site)
  for (const name of ['client-page', 'client-react']) {
    for (const file of ['index.html', 'main.js']) cpSync(join(folder, name, file), join(site, name, file))
  }
  cpSync(join(site, 'client-page/index.html'), join(site, 'index.html'))
  return site
}

async function start(t: Test, transport: TransportName): Promise<string> {
  const plugin = { plugin: 'tesser/plugins/site', options: { folder: await pages(t) } }
  return (await startServer(t, fixture, { transport, config: { plugins: [plugin] } })).url
}

const page: Scenarios = {
  'a search, and values that are refused': async ({ page, url, sees }) => {
    await page.goto(`${url}/app/client-page/index.html`)
    await sees('3 cities')
    await sees('Vaduz, Western Europe')
    await page.locator('#cities img').first().waitFor()
    await page.getByLabel('Country').fill("Cote d'Ivoire")
    await page.getByRole('button', { name: 'Search' }).click()
    await sees('0 cities')
  },
  'an entity is created, and its name is refused the second time': async ({ page, url, sees, expect }) => {
    expect(/status of 409/)
    await page.goto(`${url}/app/client-page/index.html`)
    for (const outcome of [/^Noir has the number \d+$/, /^another entity has .*Noir.* as name/]) {
      await page.getByLabel('Name').fill('Noir')
      await page.getByRole('button', { name: 'Create' }).click()
      await sees(page.locator('#outcome').getByText(outcome))
    }
  },
}

const react: Scenarios = {
  'films are found while a name is typed': async ({ page, url, sees, missing }) => {
    await page.goto(`${url}/app/client-react/index.html`)
    await sees('Ran (Akira Kurosawa, 1985)')
    await page.getByLabel('Director').fill('varda')
    await missing('Ran (Akira Kurosawa, 1985)')
  },
  'a conflict is shown, and settled': async ({ page, url, sees, expect }) => {
    expect(/status of 4(?:09|22)/)
    await page.goto(`${url}/app/client-react/index.html`)
    await page.getByRole('button', { name: 'Rename Western' }).click()
    const { __STAMP } = (await (await fetch(`${url}/rest/Genre(2)`)).json()) as { __STAMP: number }
    const theirs = JSON.stringify({ __KEY: '2', __STAMP, name: 'Spaghetti western' })
    await fetch(`${url}/rest/Genre?$method=update`, { method: 'POST', body: theirs })
    await page.getByLabel('Name').fill('Drama')
    await page.getByRole('button', { name: 'Save' }).click()
    await sees(/^It is called Spaghetti western now/)
    await page.getByRole('button', { name: 'Rename it all the same' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await sees(page.getByRole('alert').getByText('Drama'))
    await page.getByLabel('Name').fill('Neo-western')
    await page.getByRole('button', { name: 'Save' }).click()
    await sees(page.getByRole('button', { name: 'Rename Neo-western' }))
  },
}

const isInstalled = existsSync(join(PACKAGES, 'react'))

if (isInstalled) {
  t.test('the example of React compiles', async t => {
    const folder = t.testdir()
    const files = ['main.tsx', 'films.tsx', 'genres.tsx', 'hooks.ts']
    writeProject(
      folder,
      Object.fromEntries(files.map(name => [name, readFileSync(join(EXAMPLES, 'client-react', name), 'utf8')])),
      {
        lib: ['ES2023', 'DOM', 'DOM.Iterable'],
        jsx: 'react-jsx',
        exactOptionalPropertyTypes: false,
        noPropertyAccessFromIndexSignature: false,
        skipLibCheck: true,
      },
    )
    symlinkSync(PACKAGES, join(folder, 'node_modules'))
    t.match(await runTesser(folder, 'client', '--model', resolve('config/demo/model.json')), { code: 0 })
    t.strictSame(runCompiler(folder), { code: 0, output: '' })
  })
  await inBrowser({ page, react }, start)
}
