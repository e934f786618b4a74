/** Generates the pages of `/docs/` from the Markdown files of the repository. */
import { createHash } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path/posix'
import GithubSlugger from 'github-slugger'
import { Marked } from 'marked'
import MiniSearch from 'minisearch'
import { bundlePage } from '../../config/bundle-page.mjs'
import { SEARCH } from './page/search-options.mjs'
import { documentOf, escaped } from './template.mjs'

const MANUAL = 'plugins/docs/pages'
/** Sections of the manual: folders with the order of their pages, or files of the repository. A test compares them with the folders. */
const SECTIONS = [
  { title: 'Start', files: ['README.md'], folder: 'start', pages: ['first-hour', 'tour', 'glossary', 'compared'] },
  {
    title: 'Guide',
    folder: 'guide',
    pages: [
      ...['explorer', 'model', 'import', 'logins', 'roles', 'fetch', 'typed-clients', 'plugins', 'jobs', 'webhooks'],
      ...['agents', 'single-sign-on', 'postgresql'],
    ],
  },
  {
    title: 'Operate',
    folder: 'operate',
    pages: ['deployment', 'backups', 'troubleshooting', 'several-servers'],
    files: ['SECURITY.md'],
  },
  {
    title: 'Reference',
    folder: 'reference',
    pages: ['options', 'commands', 'parameters', 'errors', 'plugin-api', 'metrics', 'versions'],
    files: ['CHANGELOG.md'],
  },
  { title: 'Protocol', folder: 'protocol', pages: ['compatibility'] },
  {
    title: 'Inside',
    files: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'bench/README.md', 'bench/HISTORY.md'],
    folder: 'decisions',
    pages: [
      ...['README', 'wire', 'queries', 'vectors', 'writes-and-log', 'storage', 'threads-and-memory', 'postgres'],
      ...['entity-sets', 'plugins', 'rights-and-sessions', 'http-edge', 'models-and-cli', 'clients-and-explorer'],
      'house-and-tests',
    ],
  },
]
/** Maximum length of the excerpt below a search result, in characters. */
const EXCERPT = 160

/**
 * @param {URL} root of the repository
 * @param {URL} target folder of the pages; it need not exist
 * @returns {Promise<string[]>} sources of their script
 */
export async function writePages(root, target) {
  const sections = [
    ...SECTIONS.map(({ title, files = [], folder, pages }) => [
      title,
      [...files, ...pages.map(page => `${MANUAL}/${folder}/${page}.md`)],
    ]),
    ['Examples', await readmes(root, 'plugins/examples')],
  ]
  const paths = sections.flatMap(([, files]) => files)
  const read = async path => ({ path, ...render(await readFile(new URL(path, root), 'utf8'), path, paths) })
  const pages = await Promise.all(paths.map(read))
  const write = async (path, content) => {
    const file = new URL(path, target)
    await mkdir(new URL('./', file), { recursive: true })
    await writeFile(file, content)
  }
  const index = JSON.stringify(searchIndex(pages))
  const indexFile = `search-${createHash('sha256').update(index).digest('hex').slice(0, 10)}.json`
  await write(indexFile, index)
  for (const picture of new Set(pages.flatMap(({ pictures }) => pictures))) {
    await mkdir(new URL('./', new URL(picture, target)), { recursive: true })
    await copyFile(new URL(picture, root), new URL(picture, target))
  }
  const files = await bundlePage(new URL('page/page.ts', import.meta.url), target)
  const titles = new Map(pages.map(({ path, title }) => [path, title]))
  for (const { path, title, html, headings } of pages) {
    const up = relative(dirname(pageOf(path)), '.')
    const links = sections.map(([name, files]) => ({
      name,
      pages: files.map(each => ({
        title: shortTitle(each, titles.get(each)),
        href: hrefOf(path, each),
        isCurrent: each === path,
      })),
    }))
    const at = name => (up === '' ? name : `${up}/${name}`)
    await write(
      pageOf(path),
      documentOf({
        title,
        html,
        links,
        headings,
        root: up === '' ? './' : `${up}/`,
        script: at(files.script),
        style: at(files.style),
        index: at(indexFile),
      }),
    )
  }
  return files.sources
}

async function readmes(root, folder) {
  const paths = await readdir(new URL(folder, root), { recursive: true })
  return paths
    .filter(path => /(?:^|\/)README\.md$/.test(path) && !path.includes('node_modules'))
    .map(path => `${folder}/${path}`)
    .sort()
}

/** Address of a page: that of the manual without its folder. */
const pageOf = path => (path === 'README.md' ? 'index.html' : path.replace(`${MANUAL}/`, '').replace(/\.md$/, '.html'))
const hrefOf = (from, to) => relative(dirname(pageOf(from)), pageOf(to))
const NAMES = { 'bench/README.md': 'Benchmarks', 'bench/HISTORY.md': 'History of speed' }
/** Title of a document in the navigation: its heading; for an example its folder. */
const shortTitle = (path, title) =>
  NAMES[path] ?? (path.startsWith('plugins/examples/') ? path.split('/').at(-2) : title)

/** HTML of a document, its headings and pictures, and its search entries: sections, and rows of tables whose first column is code. */
function render(markdown, path, paths) {
  const slugger = new GithubSlugger()
  const headings = []
  const entries = []
  const pictures = []
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, id }) {
        const anchor = `<a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${anchor}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const target = linkOf(href, path, paths)
        // A source file, which is not among the pages.
        if (target === undefined) return inner
        return `<a href="${escaped(target)}"${/^https?:/.test(target) ? ' rel="noreferrer"' : ''}>${inner}</a>`
      },
      image({ href, text }) {
        const picture = join(dirname(path), href)
        pictures.push(picture)
        return `<img src="${escaped(relative(dirname(pageOf(path)), picture))}" alt="${escaped(text)}">`
      },
      table({ header, rows }) {
        const cells = (row, tag) =>
          row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')
        const body = rows.map(row => `<tr${row.id ? ` id="${row.id}"` : ''}>${cells(row, 'td')}</tr>`).join('\n')
        return `<div class="table"><table><thead><tr>${cells(header, 'th')}</tr></thead><tbody>${body}</tbody></table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(markdown).filter(({ type, raw }) => type !== 'html' || !raw.startsWith('<!--'))
  for (const token of tokens) {
    if (token.type === 'heading') {
      const title = plainText(token.text)
      token.id = slugger.slug(title)
      headings.push({ id: token.id, depth: token.depth, title })
      entries.push({ id: token.id, title, text: '' })
    } else if (token.type === 'table' && token.rows.every(([first]) => first.text.startsWith('`'))) {
      for (const row of token.rows) {
        const [title, ...texts] = row.map(({ text }) => plainText(text))
        row.id = slugger.slug(title)
        entries.push({ id: row.id, title, text: texts.join(' ') })
      }
    } else {
      const section = entries.findLast(({ id }) => id === headings.at(-1)?.id)
      if (section) section.text += ` ${plainText(token.raw)}`
    }
  }
  return { html: marked.parser(tokens), headings, entries, pictures, title: headings[0]?.title ?? path }
}

/** Text of Markdown without its markup, for titles and for the search. */
const plainText = markdown =>
  markdown
    .replace(/^\s*```\w*$/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|\\]+|^[#>-]+ |:?-{3,}:?/gm, '')
    .replace(/\s+/g, ' ')
    .trim()

/** Address of a page or of another site; undefined for a file that is not a page. */
function linkOf(href, path, paths) {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  const [file, fragment] = href.split('#')
  const named = join(dirname(path), file)
  const document = [named, join(named, 'README.md')].find(each => paths.includes(each))
  return document && `${hrefOf(path, document)}${fragment ? `#${fragment}` : ''}`
}

function searchIndex(pages) {
  const search = new MiniSearch(SEARCH)
  for (const { path, title: page, entries } of pages) {
    for (const { id, title, text } of entries) {
      search.add({ id: `${pageOf(path)}#${id}`, page, title, text, excerpt: text.trim().slice(0, EXCERPT) })
    }
  }
  return search
}
