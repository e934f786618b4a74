import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ModuleBundler } from '../../../kernel/module-bundler.ts'

const SOURCE = `import { fail } from './inner.ts'
interface Unused { name: string }
export const here: string = import.meta.url
export const trace = (): string => { try { return fail() } catch (error) { return (error as Error).stack! } }
`
const INNER = `

export function fail(): string { throw new Error('failed') }
`

t.test('the source map of a bundle, and traces, lead to the files of the plugin', async t => {
  const names = ['plain', 'a b', 'c#d', 'e%20f', 'g?h', 'é']
  const packages = Object.fromEntries(names.map(name => [name, { 'index.ts': SOURCE, 'inner.ts': INNER }]))
  const folder = t.testdir({ ...packages, far: { away: { temporary: {} } } })
  // The folder of temporary files may be a link, which the module loader resolves.
  process.env.TMPDIR = join(folder, 'temporary')
  symlinkSync(join(folder, 'far/away/temporary'), process.env.TMPDIR)
  t.teardown(() => delete process.env.TMPDIR)
  const bundler = new ModuleBundler()
  t.teardown(() => bundler.close())
  for (const name of names) {
    const source = pathToFileURL(join(folder, name, 'index.ts'))
    const url = await bundler.importable(source)
    const [, map = ''] = /sourceMappingURL=data:[^,]*,(\S+)\s*$/.exec(readFileSync(url, 'utf8')) ?? []
    const { sources } = JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] }
    const files = sources.filter(each => each.startsWith('file:'))
    t.strictSame(files, [new URL('./inner.ts', source).href, source.href], name)
    const module = (await import(url.href)) as { here: string; trace(): string }
    t.equal(module.here, source.href, name)
    t.ok(module.trace().includes(`${join(folder, name, 'inner.ts')}:3:`), module.trace())
  }
})
