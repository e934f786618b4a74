/**
 * Text of a JSON document with one more member in one of its objects. All else stays as it is written.
 * @param text valid JSON
 * @param path names that lead to the object
 */
export function insertJson(text: string, path: readonly string[], name: string, value: unknown): string {
  const { start, end, isEmpty } = objectAt(text, path)
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const margin = indent.repeat(path.length + 1)
  const member = `${margin}${JSON.stringify(name)}: ${write(value, margin, indent)}`
  const before = text.slice(0, end).trimEnd()
  const close = `\n${indent.repeat(path.length)}`
  return `${isEmpty ? text.slice(0, start + 1) : `${before},`}\n${member}${close}${text.slice(end)}`
}

const LINE_LENGTH = 120

/** JSON with spaces inside of braces, on one line where that is short and nothing is nested. */
function write(value: unknown, margin: string, indent: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value)
  const members = Object.entries(value)
  const isFlat = members.every(([, each]) => typeof each !== 'object' || each === null)
  const flat = `{ ${members.map(([name, each]) => `${JSON.stringify(name)}: ${JSON.stringify(each)}`).join(', ')} }`
  if (isFlat && margin.length + flat.length <= LINE_LENGTH) return flat
  const inner = margin + indent
  const lines = members.map(([name, each]) => `${inner}${JSON.stringify(name)}: ${write(each, inner, indent)}`)
  return `{\n${lines.join(',\n')}\n${margin}}`
}

/** Position of the braces of an object. @throws {Error} there is none at the path */
function objectAt(text: string, path: readonly string[]): { start: number; end: number; isEmpty: boolean } {
  const scanner = new Scanner(text)
  let rest = path
  for (;;) {
    const start = scanner.at
    let found = false
    const isEmpty = scanner.members(name => {
      found = !found && rest.length > 0 && name === rest[0]
      return found
    })
    if (rest.length === 0) return { start, end: scanner.at - 1, isEmpty }
    if (!found) throw new Error(`there is no "${path.join('.')}"`)
    rest = rest.slice(1)
  }
}

const TOKEN = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)\s*/y

/** Walks over valid JSON. */
class Scanner {
  at = 0

  constructor(private readonly text: string) {
    this.at = /^\uFEFF?\s*/.exec(text)![0].length
  }

  /**
   * Reads the object that begins here.
   * @param enter called with the name of each member; with true the scanner stops at its value
   * @returns true if the object has no members
   */
  members(enter: (name: string) => boolean): boolean {
    if (this.next() !== '{') throw new Error('not an object')
    let isEmpty = true
    for (;;) {
      const token = this.next()
      if (token === '}') return isEmpty
      if (token === ',') continue
      isEmpty = false
      this.next()
      if (enter(JSON.parse(token) as string)) return false
      this.skip()
    }
  }

  private skip(): void {
    let depth = 0
    do {
      const token = this.next()
      if (token === '{' || token === '[') depth++
      else if (token === '}' || token === ']') depth--
    } while (depth > 0)
  }

  private next(): string {
    TOKEN.lastIndex = this.at
    const found = TOKEN.exec(this.text)
    if (!found) throw new Error('not JSON')
    this.at = TOKEN.lastIndex - /\s*$/.exec(found[0])![0].length
    if (found[1] !== '}') this.at = TOKEN.lastIndex
    return found[1]!
  }
}
