import { InputError } from '../base/input-error.ts'
import { isJsonObject } from '../base/json-object.ts'
import { pointerOf, showPath } from './json-path.ts'
import { ListScanner, NDJSON } from './list-scanner.ts'
import { readText } from './read-text.ts'
import { type ByteSample, guessEncoding } from './sample-bytes.ts'
import { listsIn, splitList } from './split-list.ts'

interface DocumentOptions {
  /** Name of the file, for messages. */
  readonly file: string
  readonly encoding: string | undefined
  /** A collection of features is read as GeoJSON. */
  readonly findsFeatures: boolean
  /** Reads the file again; undefined if it can be read only once. */
  readonly reread: (() => AsyncIterable<Buffer>) | undefined
}

/** How a JSON document is read. */
interface DocumentList {
  readonly format: 'json' | 'geojson'
  /** Path to the list of rows; undefined for a document that is the list, and for a collection of features. */
  readonly path?: string
}

/**
 * Finds the rows of a JSON document: the document itself if it is a list, the only list of objects in it, or the features of a collection.
 * Whether a document is a collection is decided by its beginning; whether a list is the only one, by all of it.
 * @throws {InputError} it has several lists of objects, or none
 */
export async function findList(sample: ByteSample, options: DocumentOptions): Promise<DocumentList> {
  const { file, encoding = guessEncoding(sample), reread } = options
  const begin: string[] = []
  for await (const part of readText(once(sample.bytes), encoding)) begin.push(part)
  if (!/^\s*\{/.test(begin[0] ?? '')) return { format: 'json' }
  const beginning = new ListScanner(undefined)
  const problem = await scan(beginning, each(begin))
  if (options.findsFeatures && (await isCollection(beginning, begin))) return { format: 'geojson' }
  if (sample.isWhole || problem) return { format: 'json', path: onlyList(beginning, file, problem) }
  if (!reread)
    throw new InputError(
      `${file} is an object, and can be read only once: --path names the list of its rows, such as ${listsIn(beginning) ?? 'data.items'}`,
    )
  const all = new ListScanner(undefined)
  return { format: 'json', path: onlyList(all, file, await scan(all, readText(reread(), encoding))) }
}

/** Reads a document. @returns what is wrong with it outside of its lists */
async function scan(scanner: ListScanner, parts: AsyncIterable<string>): Promise<InputError | undefined> {
  try {
    for await (const part of parts) scanner.push(part)
    return undefined
  } catch (error) {
    if (scanner.isWrong) return error as InputError
    throw error
  }
}

/**
 * Path to the only list of objects, or to a list without elements if there is no other.
 * @param problem what is wrong with the document; a single list is read nevertheless, and its reader reports the problem
 */
function onlyList(scanner: ListScanner, file: string, problem: InputError | undefined): string {
  const { lists, listCount, emptyList, isComplete } = scanner
  if (problem && (isComplete || listCount === 0)) throw problem
  const [first] = lists
  if (listCount === 1 && first) return pointerOf(first)
  if (listCount === 0 && emptyList && isComplete) return pointerOf(emptyList)
  if (!first)
    throw new InputError(`${file} is an object without a list of objects${isComplete ? NDJSON : `; ${scanner.end()}`}`)
  const names = `${file} has several lists of objects: ${listsIn(scanner)}`
  throw new InputError(`${names}; --path chooses one, such as --path ${showPath(first)}`)
}

/** True for a collection of features by its type, or by the first of its features where the type comes later. */
async function isCollection({ type, lists }: ListScanner, parts: readonly string[]): Promise<boolean> {
  if (type === 'FeatureCollection') return true
  if (type !== undefined || !lists.some(([name, ...others]) => name === 'features' && others.length === 0)) return false
  for await (const [row] of splitList(each(parts), ['features'])) if (row) return isFeature(row.text)
  return false
}

function isFeature(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && value.type === 'Feature'
  } catch {
    return false
  }
}

async function* once<T>(value: T): AsyncGenerator<T> {
  yield value
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T> {
  yield* values
}
