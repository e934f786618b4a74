/** JSON as text. Parsing it would round numbers, and lose repeated names and the order of names that are digits. */
import { jsonFaultAt } from './json-fault.ts'

/** Lays out valid JSON in lines, as `JSON.stringify(value, null, 2)` does. */
export function laidOut(json: string): string {
  const parts: string[] = []
  let depth = 0
  let isOpen = false
  const newLine = (): void => void parts.push(`\n${'  '.repeat(depth)}`)
  jsonFaultAt(json, token => {
    const isEnd = token === '}' || token === ']'
    if (isEnd) depth--
    if (isEnd !== isOpen) newLine()
    isOpen = token === '{' || token === '['
    if (isOpen) depth++
    parts.push(token === ':' ? ': ' : token)
    if (token === ',') newLine()
  })
  return parts.join('')
}

/** Texts of the values of a valid JSON object, by name. */
export function membersOf(json: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>()
  let depth = 0
  let name = ''
  let start = 0
  jsonFaultAt(json, (token, index) => {
    if (token === '}' || token === ']') depth--
    if (depth === 1 && token === ':') start = index + 1
    else if (depth === 1 && start === 0) name = JSON.parse(token)
    if (start > 0 && (depth === 0 || (depth === 1 && token === ','))) {
      members.set(name, json.slice(start, index).trim())
      start = 0
    }
    if (token === '{' || token === '[') depth++
  })
  return members
}

/** Writes an object with values that are JSON already. */
export const objectOf = (members: Iterable<readonly [name: string, json: string]>): string =>
  `{${Array.from(members, ([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`

/** Writes an entity with values that are JSON already. @param version the entity that is changed; undefined for a new one */
export const entityOf = (
  values: Iterable<readonly [name: string, json: string]>,
  version?: { readonly __KEY: string; readonly __STAMP: number },
): string =>
  objectOf([
    ...(version
      ? ([
          ['__KEY', JSON.stringify(version.__KEY)],
          ['__STAMP', `${version.__STAMP}`],
        ] as const)
      : []),
    ...values,
  ])
