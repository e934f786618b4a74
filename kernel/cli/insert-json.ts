import { memberRanges } from '../../engine/command-line.ts'

/**
 * Text of a JSON document with one more member in one of its objects. The rest of the document stays unchanged.
 * @param text valid JSON
 * @param path names that lead to the object
 */
export function insertJson(text: string, path: readonly string[], name: string, value: unknown): string {
  const [start, end] = bracesAt(text, path)
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const margin = indent.repeat(path.length + 1)
  const member = `${margin}${JSON.stringify(name)}: ${write(value, margin, indent)}`
  const before = text.slice(0, end).trimEnd()
  const close = `\n${indent.repeat(path.length)}`
  const isEmpty = text.slice(start + 1, end).trim() === ''
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

/** Positions of the braces of an object. @throws {Error} the path leads to no object */
function bracesAt(text: string, path: readonly string[]): [number, number] {
  let [start, end] = [text.indexOf('{'), text.lastIndexOf('}')]
  for (const name of path) {
    const [from, to] = memberRanges(text.slice(start, end + 1)).get(name) ?? []
    if (to === undefined) throw new Error(`there is no "${path.join('.')}"`)
    ;[start, end] = [start + from!, start + to - 1]
  }
  return [start, end]
}
