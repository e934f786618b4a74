/**
 * Compiles the kernels beside their sources: `npm run kernels`. The files are committed, because the compiler is as large as
 * everything else that a server needs.
 */
import { fileURLToPath } from 'node:url'
import { main } from 'assemblyscript/asc'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const OPTIONS = [
  ...['--runtime', 'stub', '--use', 'abort='],
  ...['-O3', '--converge', '--noAssert'],
  ...['--enable', 'simd', '--enable', 'threads'],
  // As wide as an address can be: any memory fits the import.
  ...['--importMemory', '--sharedMemory', '--noExportMemory', '--maximumMemory', '65536'],
]

/** The first that an engine knows all instructions of is used: `kernels.ts`. */
const VARIANTS = { 'kernels-relaxed.wasm': [...OPTIONS, '--enable', 'relaxed-simd'], 'kernels.wasm': OPTIONS }

const folder = process.argv[2] ?? 'engine/simd'
for (const [name, options] of Object.entries(VARIANTS)) {
  const files = ['engine/simd/assembly/kernels.ts', '--baseDir', ROOT, '--outFile', `${folder}/${name}`]
  const { error, stderr } = await main([...files, ...options])
  if (error) throw new Error(`the SIMD kernels do not compile\n${stderr}`, { cause: error })
}
