/** Generates the files of clients from the sources of the runtime. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const IMPORT = /^(?:import|export)\s[^'"]*?from '(\.\/[\w-]+\.ts)'\n/gm
const DECLARATION = /^(export )?(?=(?:async |abstract )?(?:class|interface|type|const|function) (\w+))/gm

/**
 * - `runtime.ts`: the whole runtime as one TypeScript file, appended to `client.ts`
 * - `runtime.js`: the same as a module, `tesser/client`
 * - `page.js`: the runtime from which `client.js` is made
 * @param {URL} target folder; it need not exist
 */
export async function writeRuntime(target) {
  await mkdir(target, { recursive: true })
  await writeFile(new URL('runtime.ts', target), await mergedRuntime())
  const bundle = (entry, outfile, minify) =>
    build({
      entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
      outfile: fileURLToPath(new URL(outfile, target)),
      bundle: true,
      minify,
      format: 'esm',
      target: 'es2022',
      logLevel: 'warning',
    })
  await Promise.all([bundle('runtime/index.ts', 'runtime.js', false), bundle('page.ts', 'page.js', true)])
}

/** Concatenates the sources, without imports; exports only what `index.ts` exports. @throws {Error} a name is declared twice */
async function mergedRuntime() {
  const folder = new URL('runtime/', import.meta.url)
  const index = await readFile(new URL('index.ts', folder), 'utf8')
  const exported = new Set(
    [...index.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => namesIn(names)),
  )
  exported.delete('connect')
  const declared = new Map()
  const texts = new Map()
  const visit = async name => {
    if (texts.has(name)) return
    texts.set(name, '')
    const text = await readFile(new URL(name, folder), 'utf8')
    for (const [, imported] of text.matchAll(IMPORT)) await visit(imported.slice(2))
    texts.delete(name)
    texts.set(
      name,
      text.replace(IMPORT, '').replace(DECLARATION, (_, __, declaration) => {
        if (declared.has(declaration))
          throw new Error(`${declaration} is declared in ${declared.get(declaration)} and ${name}`)
        declared.set(declaration, name)
        return exported.has(declaration) ? 'export ' : ''
      }),
    )
  }
  await visit('index.ts')
  texts.delete('index.ts')
  return `\n${[...texts.values()].map(text => text.trim()).join('\n\n')}\n`
}

const namesIn = list =>
  list
    .split(',')
    .map(name => name.trim().replace(/^type /, ''))
    .filter(Boolean)
