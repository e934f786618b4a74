/** Pages of /docs/: every link resolves, everything comes from the server, and the search finds what their headings name. */
import { readdirSync } from 'node:fs'
import MiniSearch from 'minisearch'
import t from 'tap'
import { createTestServer } from '../../kernel/testing.ts'
import { SEARCH } from '../../plugins/docs/page/search-options.mjs'

const model = { name: 'empty', dataClasses: { Thing: { key: 'ID', attributes: { ID: { type: 'long' } } } } }

const attributes = (html: string, name: string): string[] =>
  [...html.matchAll(new RegExp(`<(?!a rel)[^>]* ${name}="([^"]*)"`, 'g'))].map(([, value]) => value!)

t.test('the pages of /docs/', async t => {
  const server = await createTestServer({
    model,
    config: { disablePlugins: ['explorer'], server: { transport: 'node-http', basePath: '/shop' } },
  })
  t.teardown(() => server.close())
  const base = 'http://server/docs/'

  t.test('links, scripts and styles exist, and so do the sections that links name', async t => {
    const pages = new Map<string, string>()
    const broken: string[] = []
    const fragments: { page: string; to: string; id: string }[] = []
    const visit = async (address: string, from: string): Promise<void> => {
      if (pages.has(address)) return
      pages.set(address, '')
      const { status, text, headers } = await server.get(new URL(address).pathname)
      if (status !== 200) broken.push(`${from}: ${address} is ${status}`)
      if (!headers.get('content-type')?.startsWith('text/html')) return
      pages.set(address, text)
      for (const reference of [...attributes(text, 'href'), ...attributes(text, 'src')]) {
        const url = new URL(reference.replaceAll('&amp;', '&'), address)
        if (url.protocol === 'data:') continue
        if (url.host !== 'server') {
          if (/<(?:link|script|img)[^>]*$/.test(text.slice(0, text.indexOf(reference))))
            broken.push(`${address}: ${reference}`)
          continue
        }
        const to = url.origin + url.pathname
        if (url.hash !== '') fragments.push({ page: address, to, id: decodeURIComponent(url.hash.slice(1)) })
        await visit(to, address)
      }
    }
    await visit(base, '')
    for (const { page, to, id } of fragments) {
      if (!pages.get(to)?.includes(` id="${id}"`)) broken.push(`${page}: ${to}#${id}`)
    }
    t.same(broken, [])
    t.ok(pages.size > 40, `${pages.size} addresses`)
  })

  t.test('every file of the manual is in the navigation once', async t => {
    const { text } = await server.get('/docs/')
    const [, navigation] = /<nav class="pages"[^>]*>([\s\S]*?)<\/nav>/.exec(text)!
    const folders = new Set(readdirSync('plugins/docs/pages'))
    const linked = attributes(navigation!, 'href').filter(href => folders.has(href.split('/')[0]!))
    const files = (readdirSync('plugins/docs/pages', { recursive: true }) as string[])
      .filter(path => path.endsWith('.md'))
      .map(path => path.replace(/\.md$/, '.html'))
    t.same(linked.sort(), files.sort())
  })

  t.test('search', async t => {
    const { text: page } = await server.get('/docs/guide/model.html')
    const [, index] = / data-index="\.\.\/([^"]+)"/.exec(page)!
    const { text, headers } = await server.get(`/docs/${index}`)
    t.match(headers.get('cache-control'), /immutable/)
    const search = MiniSearch.loadJSON(text, SEARCH)
    for (const [words, first] of [
      ['maxConnections', 'reference/options.html#servermaxconnections'],
      ['$filter', 'reference/parameters.html#filter'],
      ['formerName', 'guide/model.html'],
    ] as const) {
      t.ok(
        search
          .search(words)
          .slice(0, 5)
          .some(({ id }) => String(id).startsWith(first)),
        `${words} is found at ${first}`,
      )
    }
  })

  t.test('headers', async t => {
    const { headers } = await server.get('/docs/')
    t.match(headers.get('content-security-policy'), /default-src 'none'; script-src 'self'/)
    t.equal(headers.get('cache-control'), 'no-cache')
    t.equal(headers.get('set-cookie'), null, 'reading creates no session')
    const again = await server.get('/docs/', { 'if-none-match': headers.get('etag')! })
    t.match(again, { status: 304, text: '' })
    const { status, headers: moved } = await server.get('/docs')
    t.equal(status, 308)
    t.equal(new URL(moved.get('location')!, 'http://server/shop/docs').pathname, '/shop/docs/')
  })

  t.test('no other address exists', async t => {
    for (const path of ['/docs/index', '/docs/..%2findex.js', '/docs/%2e%2e/index.js', '/docs//index.html']) {
      t.match(await server.get(path), { status: 404, json: { __ERROR: [{ errCode: 1806 }] } }, path)
    }
    t.match(await server.post('/docs/', {}), { status: 405 })
    const { json } = await server.get('/docs/guide/modal.html')
    t.match(json.__ERROR[0].message, /did you mean "\/shop\/docs\/guide\/model\.html"\?/)
    const root = await server.get('/')
    t.match(root.json.__ERROR[0].message, /\/shop\/docs(?!\/config)/, 'the root names the pages once')
  })
})

t.test('without them', async t => {
  const server = await createTestServer({ model, config: { disablePlugins: ['docs'] as never } })
  t.teardown(() => server.close())
  t.match(await server.get('/docs/'), { status: 404 })
})
