/** Raw pairs of a query string, without wrapping quotes, up to a value that begins with a quote that is not closed. */
export function naivePairs(raw: string): { pairs: [name: string, value: string][]; unclosed?: string } {
  const units = raw.match(/%[0-9a-f]{2}|./gis) ?? []
  const pairs: [string, string][] = []
  for (let at = 0; at < units.length; ) {
    let i = at
    while (i < units.length && units[i] !== '=' && units[i] !== '&') i++
    const name = units.slice(at, i).join('')
    if (units[i] !== '=') {
      pairs.push([name, ''])
      at = i + 1
      continue
    }
    const start = i + 1
    const wrapped = wrapEnd(units, start)
    if (wrapped === 'unclosed') return { pairs: [...pairs, [name, '']], unclosed: meaning(units[start]) }
    const end = wrapped === undefined ? plainEnd(units, start) : wrapped + 1
    pairs.push([name, (wrapped === undefined ? units.slice(start, end) : units.slice(start + 1, wrapped)).join('')])
    at = end + 1
  }
  return { pairs }
}

const isEncoded = (unit: string | undefined) => unit !== undefined && unit.length === 3
const meaning = (unit: string | undefined): string =>
  unit === undefined ? '' : isEncoded(unit) ? String.fromCharCode(Number.parseInt(unit.slice(1), 16)) : unit
const isQuote = (unit: string | undefined) => meaning(unit) === '"' || meaning(unit) === "'"
const isWord = (unit: string | undefined) => /[A-Za-z0-9_\x80-\uffff]/.test(meaning(unit))

function wrapEnd(units: readonly string[], start: number): number | 'unclosed' | undefined {
  if (!isQuote(units[start])) return undefined
  const quote = meaning(units[start])
  let isClosed = false
  for (let i = start + 1; i < units.length; i++) {
    if (meaning(units[i]) === quote) {
      if (i + 1 === units.length || units[i + 1] === '&') return i
      if (!isWord(units[i + 1])) isClosed = true
    } else if (isClosed && units[i] === '&' && meaning(units[i + 1]) === '$') return undefined
  }
  return isClosed ? undefined : 'unclosed'
}

function plainEnd(units: readonly string[], start: number): number {
  for (let i = start; i < units.length; i++) {
    if (units[i] === '&') return i
    if (!isQuote(units[i]) || (i > start && isWord(units[i - 1]))) continue
    const closing = units.findIndex(
      (unit, at) => at > i && meaning(unit) === meaning(units[i]) && !(at + 1 < units.length && isWord(units[at + 1])),
    )
    if (closing > 0) i = closing
  }
  return units.length
}
