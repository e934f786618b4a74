/** Files and links that documents name exist. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { sources } from '../support/checks/sources.ts'

const PATH = /`((?:kernel|plugins|engine|config|bench|test)\/[\w./-]*[\w/])`/g
const FILE = /`((?:\.\.\/)*[a-z][a-z0-9-]*(?:\/[a-z0-9-]+)*\.(?:ts|mjs))`/g
const LINK = /\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)]*)?\)/g

/** Documents with example names of files that a reader writes, and with records of the past. */
const ELSEWHERE = [
  'CHANGELOG.md',
  'plugins/docs/pages/guide/plugins.md',
  'plugins/docs/pages/reference/commands.md',
  'plugins/docs/pages/start/first-hour.md',
  'plugins/docs/pages/reference/plugin-api.md',
  'config/plugin-template/README.md',
  'config/app-template/README.md',
]

t.test('files named in documents and comments exist', async t => {
  const missing: string[] = []
  const files = sources('.md', '.ts', '.tsx', '.mjs')
  for (const { path, text } of files) {
    const isDocument = path.endsWith('.md')
    const folder = dirname(path)
    const isBelow = (named: string): boolean =>
      files.some(file => file.path.endsWith(`/${named}`) && (folder === '.' || file.path.startsWith(`${folder}/`)))
    const lookUp = (named: string): void => {
      const isThere = [named, join(folder, named), `${named}.ts`].some(place => existsSync(place)) || isBelow(named)
      if (!isThere) missing.push(`${path}: ${named}`)
    }
    if (ELSEWHERE.includes(path) || (path.startsWith('test/') && !isDocument)) continue
    for (const [, named] of text.matchAll(PATH)) lookUp(named!)
    for (const [, named] of isDocument ? text.matchAll(FILE) : []) lookUp(named!)
    for (const [, named] of isDocument ? text.matchAll(LINK) : []) lookUp(named!)
  }
  t.same(missing, [])
})
