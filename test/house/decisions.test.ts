/** Decisions have one form, the index lists each of them, and links to them lead to a section. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import GithubSlugger from 'github-slugger'
import t from 'tap'
import { sources } from '../support/checks/sources.ts'

const FOLDER = 'plugins/docs/pages/decisions'
const INDEX = `${FOLDER}/README.md`
const PARTS = ['Context', 'Options', 'Decision', 'Consequence']
const MAX_BYTES = 20_000

interface Decision {
  readonly file: string
  readonly title: string
  readonly text: string
}

const documents = sources('.md')
const files = documents.filter(({ path }) => dirname(path) === FOLDER && path !== INDEX)
const decisions: Decision[] = files.flatMap(({ path: file, text }) =>
  text
    .split(/^## /m)
    .slice(1)
    .map(section => ({ file, title: section.split('\n', 1)[0]!, text: section })),
)
const name = ({ file, title }: Decision): string => `${file}: ${title}`
const without = (isRight: (decision: Decision) => boolean): string[] =>
  decisions.filter(decision => !isRight(decision)).map(name)

/** Anchors of the headings of a document, as GitHub and the pages of `/docs/` make them. */
function anchorsOf(text: string): Set<string> {
  const slugger = new GithubSlugger()
  return new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) => slugger.slug(title!.replaceAll('`', ''))))
}

t.test('each has a date and four parts, in order', async t => {
  t.same(
    without(({ text }) => /^.*\n\n_Decided \d{4}-\d\d-\d\d\b[^\n]*\._\n\n\*\*Context\.\*\* /.test(text)),
    [],
  )
  t.same(
    without(({ text }) => [...text.matchAll(/^\*\*(\w+)\.\*\*/gm)].map(([, part]) => part).join() === PARTS.join()),
    [],
  )
})

t.test('the options name what was chosen and what was not', async t => {
  const options = ({ text }: Decision): string[] =>
    text
      .split(/^\*\*(?:Options|Decision)\.\*\*/m)[1]!
      .split(/^- /m)
      .slice(1)
  const isChosen = (option: string): boolean => option.includes('(chosen)')
  t.same(
    without(decision => options(decision).some(isChosen) && !options(decision).every(isChosen)),
    [],
  )
})

t.test('no two titles are equal, and no file is too long to read', async t => {
  const titles = decisions.map(({ title }) => title)
  t.same(
    titles.filter((title, i) => titles.indexOf(title) !== i),
    [],
  )
  t.same(
    files.filter(({ text }) => Buffer.byteLength(text) > MAX_BYTES).map(({ path }) => path),
    [],
  )
})

t.test('the index lists each decision once, by its title', async t => {
  const index = readFileSync(INDEX, 'utf8')
  const listed = [...index.matchAll(/^- \[(.*)\]\((.*\.md)#.*\)$/gm)].map(
    ([, title, file]) => `${join(FOLDER, file!)}: ${title}`,
  )
  t.same(listed.toSorted(), decisions.map(name).toSorted())
})

t.test('links to decisions, and between them, lead to a section', async t => {
  const anchors = new Map(documents.map(({ path, text }) => [path, anchorsOf(text)]))
  const isOurs = (path: string): boolean => dirname(path) === FOLDER
  const broken = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
      .map(([, to, anchor]) => ({ to: to === '' ? path : join(dirname(path), to!), anchor: anchor! }))
      .filter(({ to, anchor }) => (isOurs(path) || isOurs(to)) && !anchors.get(to)?.has(anchor))
      .map(({ to, anchor }) => `${path}: ${to}#${anchor}`),
  )
  t.same(broken, [])
})
