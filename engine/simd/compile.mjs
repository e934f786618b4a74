/**
 * Compiles the kernels: `npm run kernels`. The files are committed, because the compiler is as large as everything else that a
 * server needs.
 */
import { fileURLToPath } from 'node:url'
import { main } from 'assemblyscript/asc'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const OPTIONS = [
  ...['--runtime', 'stub', '--use', 'abort='],
  ...['-O3', '--converge', '--noAssert'],
  ...['--enable', 'simd', '--enable', 'threads'],
  // The whole address range: any memory fits the import.
  ...['--importMemory', '--sharedMemory', '--noExportMemory', '--maximumMemory', '65536'],
]

/** In order of preference: the first whose instructions an engine all knows is used (`kernels.ts`). */
const VARIANTS = { 'kernels-relaxed.wasm': [...OPTIONS, '--enable', 'relaxed-simd'], 'kernels.wasm': OPTIONS }

const folder = process.argv[2] ?? 'engine/simd'
for (const [name, options] of Object.entries(VARIANTS)) {
  const files = ['engine/simd/assembly/kernels.ts', '--baseDir', ROOT, '--outFile', `${folder}/${name}`]
  const { error, stderr } = await main([...files, ...options])
  if (error) throw new Error(`the SIMD kernels do not compile\n${stderr}`, { cause: error })
}
