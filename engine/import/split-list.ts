import { InputError } from '../base/input-error.ts'
import { quantity } from '../base/counted.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { showPath } from './json-path.ts'
import { ListScanner, NDJSON } from './list-scanner.ts'
import { ArraySplitter, type RowText } from './split-rows.ts'

/** The document has no list of objects at the path. */
export class NoListError extends InputError {}

/** Characters of an object that are read to name the lists in it, if no path says which one has the rows. */
const LOOKED_THROUGH = 2 ** 20

/**
 * Splits a list in a JSON document into its elements, as they are written, see {@link ArraySplitter}. What is wrong with the document after
 * the list is a last row with a problem.
 * @param path names of the list; empty for a document that is a list
 * @throws {InputError} the document has no list of objects there
 */
export async function* splitList(
  parts: AsyncIterable<string>,
  path: readonly string[] = [],
): AsyncGenerator<RowText[]> {
  const scanner = new ListScanner(path)
  let splitter: ArraySplitter | undefined
  let characters = 0
  let isAfter = false
  for await (const part of parts) {
    if (isAfter) {
      yield* rowsAfter(scanner, part)
      continue
    }
    let text = part
    if (!splitter) {
      const start = scanner.push(part)
      characters += part.length
      if (start === undefined) {
        if (path.length === 0 && scanner.root === 'object' && characters > LOOKED_THROUGH) break
        continue
      }
      // The white space shows how the first element is indented.
      splitter = new ArraySplitter(scanner.line - (scanner.gap.startsWith('\n') ? 1 : 0))
      text = scanner.gap + part.slice(start)
    }
    yield [...splitter.push(text)]
    if (splitter.rest === undefined) continue
    isAfter = true
    scanner.line = splitter.line
    yield* rowsAfter(scanner, splitter.rest)
  }
  if (!splitter) throw noList(scanner, path)
  yield [...splitter.end()]
  if (splitter.rest === undefined) return
  if (!isAfter) {
    scanner.line = splitter.line
    yield* rowsAfter(scanner, splitter.rest)
  }
  yield* rowsAfter(scanner)
}

/**
 * A row with a problem if the document is wrong after the list.
 * @param part the next part of the rest; undefined at the end of the document
 */
function* rowsAfter(scanner: ListScanner, part?: string): Generator<RowText[]> {
  if (scanner.isWrong) return
  let problem: string | undefined
  try {
    if (part === undefined) problem = scanner.end()
    else scanner.push(part)
  } catch (error) {
    problem = `after the list: ${(error as Error).message}`
  }
  if (problem !== undefined) yield [{ line: scanner.line, text: '', problem }]
}

function noList(scanner: ListScanner, path: readonly string[]): NoListError {
  const end = scanner.end()
  if (scanner.root === undefined) return new NoListError(end)
  const lists = listsIn(scanner)
  if (path.length === 0) {
    const remedy = lists ? `; the option path chooses a list of objects in it: ${lists}` : NDJSON
    return new NoListError(`line ${scanner.rootLine}: "{" where an array should begin${remedy}`)
  }
  const shown = excerpt(showPath(path))
  const what = scanner.at ? `${shown} is ${scanner.at}, not a list of objects` : `there is nothing at ${shown}`
  const others = scanner.root === 'list' ? 'the document itself is a list, without a path' : lists
  return new NoListError(
    [what, end, others ? `lists of objects: ${others}` : 'there is no list of objects'].filter(Boolean).join('; '),
  )
}

/** The lists of objects that were found; undefined without any. */
export function listsIn({ lists, listCount }: ListScanner): string | undefined {
  const names = [...new Set(lists.map(names => excerpt(showPath(names))))]
  const more = listCount - lists.length
  if (listCount === 0) return undefined
  return [...names, ...(more > 0 ? [`${quantity(more, 'other list')}`] : [])].join(', ')
}
