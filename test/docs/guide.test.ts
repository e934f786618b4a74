import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { installTesser, runCompiler, runNode, runTesser } from '../support/commands/author-package.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'

const GUIDE = 'plugins/docs/pages/guide/plugins.md'
const guide = readFileSync(GUIDE, 'utf8')

/** Code blocks of the guide, by the last file name in the text before them. */
const files = new Map(
  [...guide.matchAll(/^```(?:json|ts|js)\n([\s\S]*?)^```$/gm)].map(({ 1: content, index }) => {
    const named = [...guide.slice(0, index).matchAll(/`([a-z.]+\.(?:json|ts|js))`/g)].at(-1)
    return [named![1]!, content!]
  }),
)

t.test('the plugin of the guide compiles, passes its test and answers as the guide says', async t => {
  t.strictSame(
    [...files.keys()],
    [
      ...['model.json', 'index.ts', 'classes.ts', 'notes.ts', 'cart.ts', 'rates.ts'],
      ...['feed.ts', 'welcome.ts', 'pay.ts', 'hooks.ts', 'routes.ts', 'payments.ts', 'index.test.js'],
    ],
  )
  const parent = t.testdir({})
  t.match(await runTesser(parent, 'new', 'plugin', 'acme-staff'), { code: 0 })
  const folder = join(parent, 'acme-staff')
  for (const [file, content] of files) writeFileSync(join(folder, file), content)
  writeFileSync(join(folder, 'tesser.config.json'), '{ "model": "model.json", "plugins": ["./index.ts"] }')
  // The reference tests the webhooks of the guide.
  const [, webhooks] = /^```js\n(.*?)^```$/ms.exec(readFileSync('plugins/docs/pages/reference/plugin-api.md', 'utf8'))!
  writeFileSync(join(folder, 'payments.test.js'), webhooks!)
  installTesser(folder)
  t.match(await runTesser(folder, 'types'), { code: 0 })
  t.strictSame(runCompiler(folder), { code: 0, output: '' })
  t.match(await runNode(folder, '--test'), { code: 0, output: /pass 2/ })

  const at = (file: string) => pathToFileURL(join(folder, file))
  const server = await createTestServer({ model: at('model.json'), plugins: [at('index.ts')] })
  t.teardown(() => server.close())
  const tour = tourOf(GUIDE)
  t.ok(tour.length > 10)
  await followTour(t, server.url, tour)
})

t.test('every file that the guide links to exists', async t => {
  const links = [...guide.matchAll(/\]\(([^)#:]+)\)/g)].map(([, target]) => target!)
  t.ok(links.includes('../../../examples/geo'), 'links are found')
  for (const target of links) t.ok(existsSync(join(dirname(GUIDE), target)), target)
})
