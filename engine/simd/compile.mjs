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

/**
 * Compiles the kernels into `file`. What the same sources gave before is copied, because loading the compiler takes longer
 * than the rest of a build.
 * @param {URL} file
 */
export async function compileKernels(file) {
  const cached = new URL(`kernels-${await fingerprint()}.wasm`, CACHE)
  if (!existsSync(cached)) await compile(cached)
  await mkdir(new URL('./', file), { recursive: true })
  await copyFile(cached, file)
}

async function fingerprint() {
  const hash = createHash('sha256').update(OPTIONS.join(' '))
  hash.update(await readFile(new URL('node_modules/assemblyscript/package.json', ROOT)))
  for (const name of (await readdir(SOURCES)).filter(name => name.endsWith('.ts')).sort()) {
    hash.update(name).update(await readFile(new URL(name, SOURCES)))
  }
  return hash.digest('hex').slice(0, 16)
}

async function compile(file) {
  const { default: asc } = await import('assemblyscript/asc')
  await mkdir(CACHE, { recursive: true })
  // Builds may run side by side: each writes a file of its own, and the last one to be ready stays.
  const name = `node_modules/.cache/tesser/${process.pid}.wasm`
  const { error, stderr } = await asc.main([
    'engine/simd/assembly/kernels.ts',
    ...['--baseDir', fileURLToPath(ROOT), '--outFile', name],
    ...OPTIONS,
  ])
  if (error) throw new Error(`the SIMD kernels do not compile\n${stderr}`, { cause: error })
  await rename(new URL(name, ROOT), file)
}
