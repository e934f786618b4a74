import type { Config } from '../../../config/load-config.ts'
import { describeKernels } from '../../../engine/command-line.ts'
import { connectionBound } from '../../transport/connection-limit.ts'
import { selectTransport } from '../../transport/select.ts'
import { fault, type Finding, limitation, success } from './finding.ts'

/** A package with native code, or one that may be left out of an installation. */
interface Part {
  /** Specifier of the import, which begins with the name of the package. */
  readonly specifier: string
  readonly use: string
  /** Consequence if it is missing; undefined if nothing works without it. */
  readonly without?: string
}

const PARTS: readonly Part[] = [
  { specifier: 'lmdb', use: 'the store' },
  {
    specifier: 'fs-native-extensions',
    use: 'the lock of the store',
    without: 'a store opens only with storage.lock set to lease',
  },
  { specifier: 'esbuild', use: 'plugins in TypeScript', without: 'plugins and functions in TypeScript are not loaded' },
  {
    specifier: 'hnswlib-node',
    use: 'indexes of vectors',
    without: 'vectors are searched one by one: exact, but slow with many',
  },
  { specifier: 'sharp', use: 'conversion of images', without: 'images are sent only as they were stored' },
  { specifier: 'hucre/xlsx', use: 'Excel files', without: 'Excel files are neither read nor written' },
  { specifier: 'hyparquet', use: 'reading Parquet files', without: 'Parquet files are not read' },
  { specifier: 'hyparquet-writer', use: 'writing Parquet files', without: 'Parquet files are not written' },
]

/** Examines the parts that depend on the machine and on the installation. */
export async function examineParts(config: Config): Promise<Finding[]> {
  return [transportFinding(config), vectorInstructions(), ...(await Promise.all(PARTS.map(partFinding)))]
}

function transportFinding({ server, pool, functions }: Config): Finding {
  const bound = connectionBound(server.maxConnections, [pool.threads, functions.threads])
  try {
    const { name, passedOver, warnings } = selectTransport(server.transport, server.headerBytes, bound)
    const reasons = [...passedOver, ...warnings]
    if (reasons.length === 0) return success('transport', name)
    return limitation('transport', `${name}; ${reasons.join('; ')}`, transportRemedy(reasons.join()))
  } catch (error) {
    return fault('transport', messageOf(error), 'set server.transport to auto')
  }
}

/** @param reasons why faster transports were passed over */
export function transportRemedy(reasons: string): string {
  const glibc = /GLIBC_([\d.]+)/.exec(reasons)?.[1]
  if (glibc !== undefined)
    return `for the fastest one, use a system with glibc ${glibc} or later, such as Debian 13, Ubuntu 24.04, or the image of config/deploy`
  if (/Cannot find module/.test(reasons)) return 'for the fastest one, npm install --include=optional'
  return 'nothing has to be done; a fast transport matters from some thousand requests a second on'
}

/** The kernels, which need SIMD instructions of the processor. */
function vectorInstructions(): Finding {
  const found = describeKernels()
  if (found !== undefined) return success('SIMD', found)
  return limitation(
    'SIMD',
    'missing: filters, sums and vectors take several times as long',
    'use another processor or Node.js',
  )
}

export async function partFinding({ specifier, use, without }: Part): Promise<Finding> {
  const name = specifier.split('/')[0]!
  try {
    await import(specifier)
    return success(name, use)
  } catch (error) {
    const text = `${messageOf(error)}: ${without ?? 'Tesser does not start'}`
    const remedy = `npm install --include=optional, or npm rebuild ${name} if install scripts were not allowed`
    return without === undefined ? fault(name, text, remedy) : limitation(name, text, remedy)
  }
}

/** Line of an error that names the cause, without the stack of requiring files. */
const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\nRequire stack:')[0]!.split('\n', 1)[0]!
