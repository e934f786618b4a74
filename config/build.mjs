/**
 * Bundles Tesser with esbuild into `dist/`: an entry for the command, one for each thread, one for each plugin, with
 * what they share in common chunks (so that an error class is the same object for the kernel and for a plugin).
 *
 *   node config/build.mjs                                   the product
 *   node config/build.mjs --tests                           the product, the tests and the benchmarks
 *   node config/build.mjs --types                           with the declarations that the compilers of authors read
 *   node config/build.mjs --out dist-x --only FILE [FILE …]    only these entries (and the threads), for one test at a time
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { grammar } from 'ohm-js'
import { compileKernels } from '../engine/simd/compile.mjs'

const { values: options, positionals } = parseArgs({
  options: {
    tests: { type: 'boolean', default: false },
    only: { type: 'boolean', default: false },
    types: { type: 'boolean', default: false },
    out: { type: 'string', default: 'dist' },
  },
  allowPositionals: true,
})
const root = new URL('../', import.meta.url)

const sources = async (folder, pattern) =>
  existsSync(new URL(folder, root))
    ? (await readdir(new URL(folder, root), { recursive: true }))
        .map(file => `${folder}/${file}`)
        .filter(file => pattern.test(file))
    : []

const threads = [
  'engine/write/writer-thread.ts',
  'engine/pool/pool-thread.ts',
  'engine/pool/vector-thread.ts',
  'engine/functions/function-thread.ts',
  // What their modules import: part of them, so that it is the same.
  'engine/language/classes.ts',
  'plugins/binary/convert.child.ts',
].filter(file => existsSync(new URL(file, root)))
const product = async () => [
  'kernel/api.ts',
  'kernel/testing.ts',
  'kernel/main.ts',
  'kernel/cli/main.ts',
  ...(await sources('plugins', /^plugins\/[^/]+\/index\.ts$/)),
]
const testsAndBenchmarks = async () => [
  ...(await sources('test', /\.(test|child)\.ts$/)),
  ...(await sources('bench', /\.ts$/)),
]

const entryPoints = [
  ...threads,
  ...(options.only ? positionals : await product()),
  ...(options.tests ? await testsAndBenchmarks() : []),
]

/** Grammars are compiled once and for all: it takes 200 ms, which every thread that parses would need to start. */
const compileGrammars = {
  name: 'compile-grammars',
  setup({ onLoad }) {
    onLoad({ filter: /\.ohm$/ }, async ({ path }) => ({
      contents: grammar(await readFile(path, 'utf8')).toRecipe(),
      loader: 'text',
    }))
  },
}

await rm(new URL(`${options.out}/`, root), { recursive: true, force: true })
await build({
  absWorkingDir: fileURLToPath(root),
  entryPoints,
  outdir: options.out,
  outbase: '.',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: true,
  chunkNames: 'chunks/[name]-[hash]',
  plugins: [compileGrammars],
  logLevel: 'warning',
})
await compileKernels(new URL(`${options.out}/engine/simd/`, root))
if (existsSync(new URL('config/default.json', root))) {
  await cp(new URL('config/default.json', root), new URL(`${options.out}/config/default.json`, root))
}
if (options.types) {
  const types = fileURLToPath(new URL(`${options.out}/types/`, root))
  const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
  const project = fileURLToPath(new URL('config/tsconfig.types.json', root))
  execFileSync(process.execPath, [tsc, '--project', project, '--outDir', types], { stdio: 'inherit' })
  const classes = 'engine/language/tesser-classes.d.ts'
  await cp(new URL(classes, root), `${types}${classes}`)
}
