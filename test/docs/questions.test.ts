/** The search of the manual answers the questions of newcomers: one of its first three results has the answer. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import MiniSearch from 'minisearch'
import t from 'tap'
import { outputUrl } from '../../engine/base/output-root.ts'
import { SEARCH } from '../../plugins/docs/page/search-options.mjs'
import { QUESTIONS } from './questions.ts'

const PAGES = fileURLToPath(outputUrl('plugins/docs/pages/'))
const index = readdirSync(PAGES).find(name => name.startsWith('search-'))!
const search = MiniSearch.loadJSON(readFileSync(join(PAGES, index), 'utf8'), SEARCH)

/** Text of the section or table row that a result leads to. */
function textAt(id: string): string {
  const [page, anchor] = id.split('#') as [string, string]
  const html = readFileSync(join(PAGES, page), 'utf8')
  const found = html.slice(html.indexOf(` id="${anchor}"`))
  const isRow = html.lastIndexOf('<tr', html.indexOf(` id="${anchor}"`)) + 3 === html.indexOf(` id="${anchor}"`)
  const end = isRow ? found.indexOf('</tr>') : found.search(/<h[1-6] |<\/main>/)
  return found
    .slice(0, end)
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
}

for (const [question, answer] of QUESTIONS) {
  t.test(question, async t => {
    const ids = search.search(question).map(({ id }) => String(id))
    t.ok(
      ids.slice(0, 3).some(id => answer.test(textAt(id))),
      ids.slice(0, 3).join(' '),
    )
  })
}
