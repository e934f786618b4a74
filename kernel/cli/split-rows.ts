/** The text of a row, and the line of the file on which it starts, from 1. */
export interface RowText {
  line: number
  text: string
}

/** More characters than any row that makes sense; a file that is no list of rows has to end somewhere. */
const MAX_ROW_LENGTH = 256 * 2 ** 20

/** The lines of a text that are not blank. @throws {Error} when one is longer than a row can be */
export async function* splitLines(parts: AsyncIterable<string>): AsyncGenerator<RowText> {
  let line = 1
  let rest: string[] = []
  let restLength = 0
  for await (const part of parts) {
    let start = 0
    for (let end = part.indexOf('\n'); end >= 0; end = part.indexOf('\n', start)) {
      const text = (rest.join('') + part.slice(start, end)).trim()
      if (text !== '') yield { line, text }
      rest = []
      restLength = 0
      line++
      start = end + 1
    }
    rest.push(part.slice(start))
    restLength += part.length - start
    if (restLength > MAX_ROW_LENGTH) throw tooLong(line)
  }
  const text = rest.join('').trim()
  if (text !== '') yield { line, text }
}

/**
 * The elements of a JSON array, as they are written. Only brackets and quotes are looked at, so what is wrong inside an
 * element concerns that element alone.
 * @throws {Error} when the text is no array, ends early, or goes on behind the array
 */
export async function* splitArray(parts: AsyncIterable<string>): AsyncGenerator<RowText> {
  let line = 1
  let depth = 0
  let isInString = false
  let isEscaped = false
  let isOver = false
  let element = ''
  /** Line of the first character of the element; undefined until it comes. */
  let elementLine: number | undefined
  for await (const part of parts) {
    let start = 0
    for (let i = 0; i < part.length; i++) {
      const character = part[i]!
      if (character === '\n') line++
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (character === '\\') isEscaped = true
        else if (character === '"') isInString = false
        continue
      }
      if (character === ' ' || character === '\n' || character === '\r' || character === '\t') continue
      if (isOver) throw new Error(`line ${line}: the file goes on behind the array`)
      if (depth === 0) {
        if (character !== '[') throw new Error(`line ${line}: ${JSON.stringify(character)} where an array should begin`)
        depth = 1
        start = i + 1
      } else if (depth === 1 && (character === ',' || character === ']')) {
        isOver = character === ']'
        if (elementLine !== undefined || !isOver) {
          yield { line: elementLine ?? line, text: (element + part.slice(start, i)).trim() }
        }
        element = ''
        elementLine = undefined
        start = i + 1
      } else {
        elementLine ??= line
        if (character === '"') isInString = true
        else if (character === '[' || character === '{') depth++
        else if (character === ']' || character === '}') depth--
      }
    }
    if (depth > 0 && !isOver) element += part.slice(start)
    if (element.length > MAX_ROW_LENGTH) throw tooLong(elementLine ?? line)
  }
  if (!isOver) throw new Error(depth === 0 ? 'the file is empty' : `line ${line}: the file ends inside the array`)
}

const tooLong = (line: number): Error =>
  new Error(`line ${line}: a row has more than ${MAX_ROW_LENGTH} characters; is this the right format?`)
