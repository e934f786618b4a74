import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const SOURCES = new URL('assembly/', import.meta.url)
const CACHE = new URL('node_modules/.cache/tesser/', ROOT)

const OPTIONS = [
  ...['--runtime', 'stub', '--use', 'abort='],
  ...['-O3', '--converge', '--noAssert'],
  ...['--enable', 'simd', '--enable', 'threads'],
  // As wide as an address can be: any memory fits the import.
  ...['--importMemory', '--sharedMemory', '--noExportMemory', '--maximumMemory', '65536'],
]

/** The first that an engine knows all instructions of is used: `kernels.ts`. */
const VARIANTS = { 'kernels-relaxed.wasm': [...OPTIONS, '--enable', 'relaxed-simd'], 'kernels.wasm': OPTIONS }

/**
 * Compiles the kernels into files in `folder`. What the same sources gave before is copied, because loading the compiler
 * takes longer than the rest of a build.
 * @param {URL} folder
 */
export async function compileKernels(folder) {
  await mkdir(folder, { recursive: true })
  for (const [name, options] of Object.entries(VARIANTS)) {
    const cached = new URL(`kernels-${await fingerprint(options)}.wasm`, CACHE)
    if (!existsSync(cached)) await compile(cached, options)
    await copyFile(cached, new URL(name, folder))
  }
}

async function fingerprint(options) {
  const hash = createHash('sha256').update(options.join(' '))
  hash.update(await readFile(new URL('node_modules/assemblyscript/package.json', ROOT)))
  for (const name of (await readdir(SOURCES)).filter(name => name.endsWith('.ts')).sort()) {
    hash.update(name).update(await readFile(new URL(name, SOURCES)))
  }
  return hash.digest('hex').slice(0, 16)
}

async function compile(file, options) {
  const { default: asc } = await import('assemblyscript/asc')
  await mkdir(CACHE, { recursive: true })
  // Builds may run side by side: each writes a file of its own, and the last one to be ready stays.
  const name = `node_modules/.cache/tesser/${process.pid}.wasm`
  const { error, stderr } = await asc.main([
    'engine/simd/assembly/kernels.ts',
    ...['--baseDir', fileURLToPath(ROOT), '--outFile', name],
    ...options,
  ])
  if (error) throw new Error(`the SIMD kernels do not compile\n${stderr}`, { cause: error })
  await rename(new URL(name, ROOT), file)
}
