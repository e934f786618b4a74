/** A read as people repeat it elsewhere. */

export interface RepeatedRead {
  /** `http://127.0.0.1:8080/rest/City`. */
  readonly address: string
  /** Empty for none. */
  readonly filter: string
  readonly order: string
}

/** A text as one word of a POSIX shell, whatever it holds. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Its address: texts of parameters stand in quotes there. */
export function urlOf(read: RepeatedRead): string {
  const query = Object.entries(parametersOf(read)).map(([name, value]) => `${name}=${encodeURIComponent(`"${value}"`)}`)
  return query.length > 0 ? `${read.address}?${query.join('&')}` : read.address
}

const parametersOf = ({ filter, order }: RepeatedRead): Record<string, string> => ({
  ...(filter && { $filter: filter }),
  ...(order && { $orderby: order }),
})

/** `-g`: brackets and braces of addresses mean themselves. */
export const asCurl = (read: RepeatedRead): string => `curl -g ${shellQuoted(urlOf(read))}`

export const asFetch = (read: RepeatedRead): string =>
  `const response = await fetch(${JSON.stringify(urlOf(read))})\nconst answer = await response.json()\n`

/** The same by `$query`, whose body has no limit of length. */
export function asQuery(read: RepeatedRead): string {
  const [address, body] = [`${read.address}/$query`, JSON.stringify(parametersOf(read))].map(shellQuoted)
  return `curl -g ${address} -H 'Content-Type: application/json' -d ${body}`
}
