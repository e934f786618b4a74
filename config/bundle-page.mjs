import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/**
 * Bundles the script of a page and the styles that it imports. Each file has a digest in its name; modules that the script imports
 * with `import()` become separate files, which are loaded on demand. Their styles are in the one file of styles,
 * because nothing loads style sheets later.
 * @param {URL} entry a script
 * @param {URL} target folder
 * @returns {Promise<{ script: string, preloads: string[], style: string, sources: string[] }>} names of the files in it, and their
 *   sources; `preloads` are the files that the script imports at once
 */
export async function bundlePage(entry, target) {
  const root = fileURLToPath(new URL('../', import.meta.url))
  const path = relative(root, fileURLToPath(entry))
  const options = {
    absWorkingDir: root,
    entryPoints: [path],
    outdir: fileURLToPath(target),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  }
  const { inputs } = (await build({ ...options, write: false })).metafile
  const first = reachedFrom(path, inputs, kind => kind === 'import-statement')
  // Styles of modules that are loaded later follow.
  const reached = [...new Set([...first, ...reachedFrom(path, inputs, () => true)])]
  const { metafile } = await build({
    ...options,
    loader: { '.css': 'empty' },
    logOverride: { 'ignored-bare-import': 'silent' },
    plugins: [firstLoadTogether(root, first, inputs)],
  })
  const styles = await build({
    ...options,
    entryPoints: undefined,
    stdin: {
      contents: reached
        .filter(isStyle)
        .map(file => `@import ${JSON.stringify(join(root, file))};`)
        .join(''),
      loader: 'css',
      sourcefile: 'style.css',
      resolveDir: root,
    },
    splitting: false,
    entryNames: 'style-[hash]',
  })
  const [script, { imports }] = Object.entries(metafile.outputs).find(([, each]) => each.entryPoint === path)
  const nameOf = file => file.split('/').at(-1)
  return {
    script: nameOf(script),
    preloads: imports.filter(({ kind }) => kind === 'import-statement').map(each => nameOf(each.path)),
    style: nameOf(Object.keys(styles.metafile.outputs)[0]),
    sources: reached,
  }
}

const isStyle = file => file.endsWith('.css')

/** Files that an entry imports, directly or not, each before its importers. */
function reachedFrom(entry, inputs, isFollowed) {
  const found = []
  const seen = new Set()
  const follow = file => {
    if (seen.has(file)) return
    seen.add(file)
    for (const { path, kind, external } of inputs[file].imports) if (!external && isFollowed(kind)) follow(path)
    found.push(file)
  }
  follow(entry)
  return found
}

/**
 * A plugin for esbuild that puts all modules of the first load of a page into one file. esbuild makes a chunk for each set of entries
 * that share a module, some thirty files to fetch; here all entries that are loaded later share all of these modules.
 * @param {string} root folder that paths are relative to
 * @param {string[]} first modules of the first load; the last one is the script itself
 * @param {import('esbuild').Metafile['inputs']} inputs
 */
function firstLoadTogether(root, first, inputs) {
  const later = Object.values(inputs).flatMap(({ imports }) => imports.filter(({ kind }) => kind === 'dynamic-import'))
  const entries = new Set(
    later.map(({ path }) => join(root, path)).filter(path => !first.includes(relative(root, path))),
  )
  const scripts = first.slice(0, -1).filter(file => !isStyle(file))
  const imports = scripts.map(path => `import ${JSON.stringify(join(root, path))};`).join('')
  return {
    name: 'first-load-together',
    setup({ onLoad, onResolve }) {
      // A package that declares itself free of side effects would be dropped from an import without names.
      onResolve({ filter: /^\// }, ({ path }) =>
        scripts.includes(relative(root, path)) ? { path, sideEffects: true } : undefined,
      )
      onLoad({ filter: /\.tsx?$/ }, async ({ path }) =>
        entries.has(path)
          ? { contents: imports + (await readFile(path, 'utf8')), loader: path.endsWith('x') ? 'tsx' : 'ts' }
          : undefined,
      )
    },
  }
}
