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

/** Examines the installed packages. */
export const examineParts = (): Promise<Finding[]> => Promise.all(PARTS.map(partFinding))

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
export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\nRequire stack:')[0]!.split('\n', 1)[0]!
