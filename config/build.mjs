/**
 * Bundles Tesser with esbuild into `dist/`: an entry for the command, one for each thread, one for all plugins that a server loads by
 * default and one for each other plugin, with shared code in common chunks (so that an error class is the same object for the kernel
 * and for a plugin).
 *
 *   node config/build.mjs                                   the product
 *   node config/build.mjs --tests                           the product, the tests and the benchmarks
 *   node config/build.mjs --types                           with the declarations for the compilers of plugin authors
 *   node config/build.mjs --with FILE                       with a plugin for esbuild, the default export of FILE
 *   node config/build.mjs --out dist-x --only FILE [FILE …]    only these entries (and the threads), for single tests
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { grammar } from 'ohm-js'
import { writePages } from '../plugins/docs/pages.mjs'
import { writeRuntime } from '../plugins/client/bundle-runtime.mjs'
import { writeExplorer } from '../plugins/explorer/page.mjs'
import { writeNotices } from './third-party-notices.mjs'

const { values: options, positionals } = parseArgs({
  options: {
    tests: { type: 'boolean', default: false },
    only: { type: 'boolean', default: false },
    types: { type: 'boolean', default: false },
    out: { type: 'string', default: 'dist' },
    with: { type: 'string' },
  },
  allowPositionals: true,
})
const root = new URL('../', import.meta.url)
const compiler = options.types && findCompiler()
if (options.types && !compiler) {
  process.stderr.write('the build with types needs the development packages: npm ci, then npm run build\n')
  process.exit(1)
}

/** Path of the TypeScript compiler; undefined after `npm ci --omit=dev`. */
function findCompiler() {
  try {
    return fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
  } catch {
    return undefined
  }
}

const sources = async (folder, pattern) =>
  existsSync(new URL(folder, root))
    ? (await readdir(new URL(folder, root), { recursive: true }))
        .map(file => `${folder}/${file}`)
        .filter(file => pattern.test(file) && !file.includes('node_modules'))
    : []

/** Threads and processes without plugin code: one chunk each, which loads faster than many. */
const threads = [
  'engine/threads/writer-thread.ts',
  'engine/threads/pool-thread.ts',
  'engine/threads/vector-thread.ts',
  'engine/threads/remote-thread.ts',
  'engine/threads/backup-process.ts',
  'engine/threads/migration-process.ts',
]
/** Threads and processes that share modules with the code that they load. */
const sharedThreads = [
  'engine/threads/function-thread.ts',
  // Imported by their modules: an entry here, so that both get the same instance.
  'engine/author/data-api/classes.ts',
  'plugins/binary/convert.child.ts',
]
const pluginSource = name => `plugins/${name}/index.ts`
const { plugins: namesByDefault } = JSON.parse(await readFile(new URL('config/default.json', root), 'utf8'))
const byDefault = namesByDefault.map(specifier => basename(specifier))
/** Plugins whose modules commands import, too. */
const IMPORTED_BY_COMMANDS = ['client', 'openapi']
const own = (await sources('plugins', /^plugins\/[^/]+\/index\.ts$/)).filter(
  file => !byDefault.some(name => pluginSource(name) === file && !IMPORTED_BY_COMMANDS.includes(name)),
)
const product = ['kernel/api.ts', 'kernel/testing.ts', 'kernel/main.ts', 'kernel/cli/main.ts', ...own]

/** Plugins that a server loads by default, by name, in one module: a start that finds and loads each by itself takes a tenth longer. */
const BUILT_IN = 'plugins/built-in.ts'
const builtInPlugins = {
  name: 'built-in-plugins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^plugins\/built-in\.ts$/ }, ({ path }) => ({ path, namespace: 'built-in' }))
    onLoad({ filter: /./, namespace: 'built-in' }, () => ({
      contents: [
        ...byDefault.map((name, i) => `import plugin${i} from './${pluginSource(name)}'`),
        `export default { ${byDefault.map((name, i) => `'${name}': plugin${i}`)} }`,
      ].join('\n'),
      resolveDir: fileURLToPath(root),
    }))
    // Files beside a plugin stay in its folder, wherever its code is.
    const plugins = fileURLToPath(new URL('plugins/', root))
    onLoad({ filter: /[/\\]plugins[/\\][^/\\]+[/\\]index\.ts$/ }, async ({ path }) => {
      const source = await readFile(path, 'utf8')
      if (!path.startsWith(plugins) || !source.includes('import.meta.url')) return undefined
      const outputRoot = fileURLToPath(new URL('engine/base/output-root.ts', root))
      const folder = `outputUrl('plugins/${basename(dirname(path))}/')`
      return {
        contents: `${source.replaceAll('import.meta.url', folder)}\nimport { outputUrl } from ${JSON.stringify(outputRoot)}\n`,
        loader: 'ts',
      }
    })
  },
}

const entryPoints = [...sharedThreads, ...(options.only ? positionals : product), BUILT_IN]

/** Grammars are compiled once, in the build: that takes 200 ms, which every thread that parses would otherwise need to start. */
const compileGrammars = {
  name: 'compile-grammars',
  setup({ onLoad }) {
    onLoad({ filter: /\.ohm$/ }, async ({ path }) => ({
      contents: grammar(await readFile(path, 'utf8')).toRecipe(),
      loader: 'text',
    }))
  },
}

/**
 * Packages that become part of the bundles: all JavaScript, and much faster to load from one file than from the hundreds
 * that some of them have. All others are imported from where they are installed.
 */
const BUNDLED = [
  '@fastify/busboy',
  '@fastify/proxy-addr',
  '@modelcontextprotocol/server',
  '@rgrove/parse-xml',
  '@sinclair/typebox',
  'ajv',
  'ajv-formats',
  'chokidar',
  'croner',
  'fastest-levenshtein',
  'fzstd',
  'import-meta-resolve',
  'ipaddr.js',
  'jose',
  'minizlib',
  'mrmime',
  'negotiator',
  'ohm-js',
  'openid-client',
  'p-limit',
  'prom-client',
  're2js',
  'secure-json-parse',
  'semver',
]
/** Turns modules of Node.js that bundled packages require into imports: an ES module has no `require`. */
const importBuiltins = {
  name: 'import-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?[a-z0-9_]+$/ }, ({ path, kind }) => {
      const name = path.replace(/^node:/, '')
      return kind === 'require-call' && isBuiltin(name) ? { path: name, namespace: 'builtin' } : undefined
    })
    onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `import * as all from 'node:${path}'; module.exports = all.default`,
    }))
  },
}
/** Loads lmdb as CommonJS: one file, which takes half the time to load, 30 ms less for each process and thread. */
const requireLmdb = {
  name: 'require-lmdb',
  setup({ onResolve, onLoad }) {
    const names = Object.keys(createRequire(import.meta.url)('lmdb')).filter(name => name !== 'default')
    onResolve({ filter: /^lmdb$/ }, ({ path }) => ({ path, namespace: 'required' }))
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `import { createRequire } from 'node:module'
export const { ${names} } = createRequire(import.meta.url)('${path}')`,
    }))
  },
}
const { dependencies, optionalDependencies, devDependencies } = JSON.parse(
  await readFile(new URL('package.json', root), 'utf8'),
)
const installed = Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies })

/**
 * Keeps the imports of a thread out of its own module, in a chunk: a thread of the tests that goes from store to store evaluates
 * its module again, but not its imports (`test/support/runner/threads`).
 */
const IMPORTS = '?imports'
const importsOfThreads = {
  name: 'imports-of-threads',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?imports$/ }, ({ path }) => ({ path: path.slice(0, -IMPORTS.length), namespace: 'imports' }))
    onLoad({ filter: /./, namespace: 'imports' }, async ({ path }) => {
      const source = await readFile(new URL(path, root), 'utf8')
      const imported = [...source.matchAll(/^import (?!type)[^;]*?from '(\..+)'$/gm)]
      return {
        contents: imported.map(([, from]) => `import '${from}'\n`).join(''),
        resolveDir: fileURLToPath(new URL('.', new URL(path, root))),
      }
    })
  },
}
const threadEntries = file => [
  { in: file, out: file.slice(0, -'.ts'.length) },
  { in: `${file}${IMPORTS}`, out: `chunks/imports-of-${basename(file, '.ts')}` },
]

const plugins = [importsOfThreads, builtInPlugins, compileGrammars, importBuiltins, requireLmdb]
if (options.with) plugins.unshift((await import(new URL(options.with, root))).default)

await rm(new URL(`${options.out}/`, root), { recursive: true, force: true })
const common = {
  absWorkingDir: fileURLToPath(root),
  outdir: options.out,
  outbase: '.',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['tesser', ...installed.filter(name => !BUNDLED.includes(name))],
  sourcemap: true,
  metafile: true,
  plugins,
  logLevel: 'warning',
}
/**
 * Tests and benchmarks that import the kernel share its chunks; the others have chunks of their own. They import single
 * modules of the engine, and would split the product into hundreds of chunks, one for each set of tests that imports some.
 */
async function kernelOf(files) {
  const { metafile } = await build({ ...common, entryPoints: files, splitting: true, sourcemap: false, write: false })
  const reaches = (file, seen = new Set()) =>
    file === 'kernel/main.ts' ||
    (!seen.has(file) && importsOf(metafile.inputs[file]).some(path => reaches(path, seen.add(file))))
  return files.filter(file => reaches(file))
}
const importsOf = ({ imports }) => imports.flatMap(({ path, external }) => (external ? [] : path))

const testsAndBenchmarks = options.tests
  ? [...(await sources('test', /\.(test|child)\.ts$/)), ...(await sources('bench', /\.ts$/))].sort()
  : []
const sharing = await kernelOf(testsAndBenchmarks)
const others = testsAndBenchmarks.filter(file => !sharing.includes(file))
const split = { ...common, splitting: true, chunkNames: 'chunks/[name]-[hash]' }
const results = await Promise.all([
  build({
    ...split,
    entryPoints: [...entryPoints, ...sharing].map(file => ({ in: file, out: file.slice(0, -'.ts'.length) })),
  }),
  build({ ...split, entryPoints: others }),
  ...threads.map(file => build({ ...split, entryPoints: threadEntries(file) })),
])
for (const { metafile } of results) {
  const imports = Object.values(metafile.outputs).flatMap(output => output.imports)
  const required = imports.find(({ kind, external }) => kind === 'require-call' && external)
  if (required)
    throw new Error(`a package of BUNDLED calls require("${required.path}"), which an ES module does not have`)
}
for (const name of ['kernels.wasm', 'kernels-relaxed.wasm']) {
  await cp(new URL(`engine/simd/${name}`, root), new URL(`${options.out}/engine/simd/${name}`, root))
}
const pages = await Promise.all([
  writePages(root, new URL(`${options.out}/plugins/docs/pages/`, root)),
  writeExplorer(new URL(`${options.out}/plugins/explorer/pages/`, root)),
])
await writeRuntime(new URL(`${options.out}/plugins/client/`, root))
await writeNotices(new URL(`${options.out}/THIRD-PARTY-NOTICES.txt`, root), root, [
  ...results.flatMap(({ metafile }) => Object.keys(metafile.inputs)),
  ...pages.flat(),
])
if (existsSync(new URL('config/default.json', root))) {
  await cp(new URL('config/default.json', root), new URL(`${options.out}/config/default.json`, root))
}
if (options.tests) {
  const { writeTestGroups } = await import('../test/support/runner/group-tests.mjs')
  const tests = [...others, ...sharing].filter(file => file.endsWith('.test.ts'))
  await writeTestGroups(new URL(`${options.out}/`, root), tests)
  const imports = results.flatMap(({ metafile }) =>
    Object.keys(metafile.inputs).map(file => [file, importsOf(metafile.inputs[file])]),
  )
  await writeFile(new URL(`${options.out}/imports.json`, root), JSON.stringify(Object.fromEntries(imports)))
}
if (options.types) {
  const types = fileURLToPath(new URL(`${options.out}/types/`, root))
  const project = fileURLToPath(new URL('config/tsconfig.types.json', root))
  execFileSync(process.execPath, [compiler, '--project', project, '--outDir', types], { stdio: 'inherit' })
  const classes = 'engine/author/data-api/tesser-classes.d.ts'
  await cp(new URL(classes, root), `${types}${classes}`)
}
