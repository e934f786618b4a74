/** Texts of the explorer in all its languages, including those that an installation adds. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { readLanguages } from '../../../../plugins/explorer/languages.ts'
import { createTestServer } from '../../../../kernel/testing.ts'

type Text = string | { one: string; other: string }
const PAGE = 'plugins/explorer/page'
const build = (await import(pathToFileURL('plugins/explorer/texts.mjs').href)) as {
  collectTexts(page: URL): Promise<Record<'en' | 'de', Record<string, Text>>>
}
const texts = await build.collectTexts(pathToFileURL(`${PAGE}/`))

const formsOf = (text: Text): string[] => (typeof text === 'string' ? [text] : [text.one, text.other])
const placeholders = (text: Text): string[] =>
  [...new Set(formsOf(text).flatMap(form => form.match(/\{\w+\}/g) ?? []))].sort()

t.test('English and German have the same texts with the same placeholders', t => {
  t.ok(Object.keys(texts.en).length > 100)
  t.same(Object.keys(texts.de).sort(), Object.keys(texts.en).sort())
  for (const [key, text] of Object.entries(texts.en)) {
    t.same(placeholders(texts.de[key]!), placeholders(text), key)
    for (const form of [...formsOf(text), ...formsOf(texts.de[key]!)]) t.not(form.trim(), '', key)
  }
  t.end()
})

t.test('no text is unused', t => {
  const sources = readdirSync(PAGE, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file) && !file.endsWith('texts.ts'))
    .map(file => readFileSync(join(PAGE, file), 'utf8'))
    .join('\n')
  const names = new Set(
    [...sources.matchAll(/['`](\w+)['`]|\b(\w+):/g)].map(([, quoted, property]) => quoted ?? property),
  )
  const unused = Object.keys(texts.en).filter(key => !names.has(key.split('.').at(-1)!))
  t.same(unused, [])
  t.end()
})

t.test('a language that is added is checked at the start, all problems reported at once', async t => {
  const english = { 'shell.cancel': 'Cancel', 'home.entities': { one: '{count} entity', other: '{count} entities' } }
  const folder = t.testdir({
    'fr.json': JSON.stringify({
      'shell.cancel': 'Annuler',
      'home.entities': { one: 'une entité', other: '{count} entités' },
    }),
    'it.json': JSON.stringify({ 'shell.cancl': 'x', 'home.entities': '{n} entità', 'shell.cancel': 5 }),
    'nl.json': '{',
    'es.json': '[]',
  })
  const added = await readLanguages({ fr: 'fr.json' }, folder, english)
  t.match(added.get('fr'), { name: 'français', texts: { 'shell.cancel': 'Annuler' } })
  const files = { it: 'it.json', nl: 'nl.json', es: 'es.json', pt: 'pt.json' }
  const { message } = (await readLanguages(files, folder, english).then(
    () => t.fail('wrong files are taken'),
    (error: Error) => error,
  )) as Error
  for (const part of [
    'it.json: there is no text "shell.cancl"',
    'it.json: "home.entities" has {n}; it takes {count}',
    'it.json: "shell.cancel": a text is expected',
    'nl.json: ',
    'es.json: an object with texts is expected',
    'pt.json: ENOENT',
  ]) {
    t.ok(message.includes(part), part)
  }
})

t.test('the page can load added languages', async t => {
  const folder = t.testdir({ 'fr.json': JSON.stringify({ 'shell.cancel': 'Annuler' }) })
  const model = { name: 'none', dataClasses: { A: { key: 'ID', attributes: { ID: { type: 'long' } } } } }
  const option = { plugin: 'tesser/plugins/explorer', options: { languages: { fr: join(folder, 'fr.json') } } }
  for (const [plugins, languages] of [
    [[], {}],
    [[option], { fr: 'français' }],
  ] as const) {
    const server = await createTestServer({ model, config: { plugins } })
    t.teardown(() => server.close())
    t.same((await server.get('/explorer/languages.json')).json, languages)
    const { status, json } = await server.get('/explorer/languages/fr.json')
    t.equal(status, plugins.length > 0 ? 200 : 404)
    if (status === 200) t.same(json, { 'shell.cancel': 'Annuler' })
    t.same((await server.get('/explorer/texts/en.json')).json, texts.en)
  }
})
