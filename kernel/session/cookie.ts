/** The value of the first cookie with one of these names, in the order of the names. Source: RFC 6265, 4.2. */
export function cookieValue(header: string, names: readonly string[]): string | undefined {
  if (header === '') return undefined
  for (const name of names) {
    for (let at = header.indexOf(`${name}=`); at >= 0; at = header.indexOf(`${name}=`, at + 1)) {
      const before = at === 0 ? ';' : header[header[at - 1] === ' ' ? at - 2 : at - 1]
      if (before !== ';') continue
      const start = at + name.length + 1
      const end = header.indexOf(';', start)
      return header.slice(start, end < 0 ? undefined : end).trim()
    }
  }
  return undefined
}
