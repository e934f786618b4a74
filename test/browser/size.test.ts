/** Compressed sizes of the files of the explorer: at first, and in total with the coast lines of its map, without added languages. */
import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import t from 'tap'

const folder = 'dist/plugins/explorer/pages/'
const STATIC = /(?:from|import)\s*"\.\/([^"]+\.js)"/g

const sizeOf = (file: string): number => gzipSync(readFileSync(folder + file), { level: 9 }).length
const total = (files: Iterable<string>): number => [...files].reduce((sum, file) => sum + sizeOf(file), 0)

function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  if (file.endsWith('.js')) {
    for (const [, imported] of readFileSync(folder + file, 'utf8').matchAll(STATIC)) withImports(imported!, found)
  }
  return found
}

t.test('the first load takes 60 KB at most, all of it 260 KB', async t => {
  const page = readFileSync(`${folder}index.html`, 'utf8')
  const linked = [...page.matchAll(/(?:src|href)="([\w-]+\.(?:js|css))"/g)].map(([, file]) => file!)
  const first = new Set(['index.html', ...linked.flatMap(file => [...withImports(file)])])
  t.comment(`first load: ${total(first)} bytes of ${[...first].join(', ')}`)
  t.ok(total(first) <= 60_000)
  t.same(
    new Set(['index.html', ...linked]),
    first,
    'the page names all of it, so that one round trip follows that of the page',
  )
  t.ok(first.size <= 5, `${first.size} files`)
  const all = readdirSync(folder).filter(file => /\.(?:js|css|html|json)$/.test(file))
  t.comment(`all: ${total(all)} bytes of ${all.length} files`)
  t.ok(total(all) <= 260_000)
})
