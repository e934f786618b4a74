/** A request as users can repeat it elsewhere. */
import { bodyOf, type Parameters, queryOf } from '../base/parameters.ts'

export interface RepeatedRequest {
  /** `http://127.0.0.1:8080/rest/City`. */
  readonly address: string
  readonly parameters: Parameters
  /** Sent as JSON by POST. */
  readonly body?: unknown
}

/** A text as one word of a POSIX shell, whatever its content. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const urlOf = ({ address, parameters }: RepeatedRequest): string => `${address}${queryOf(parameters)}`

/** A `curl` command; `-g` takes brackets and braces literally. */
export function asCurl(request: RepeatedRequest): string {
  const command = `curl -g ${shellQuoted(urlOf(request))}`
  if (request.body === undefined) return command
  return `${command} -H 'Content-Type: application/json' -d ${shellQuoted(JSON.stringify(request.body))}`
}

export function asFetch(request: RepeatedRequest): string {
  const init =
    request.body === undefined ? '' : `, { method: 'POST', body: JSON.stringify(${JSON.stringify(request.body)}) }`
  return `const response = await fetch(${JSON.stringify(urlOf(request))}${init})\nconst answer = await response.json()\n`
}

/** A read by `$query`, whose body has no length limit. */
export const asQuery = ({ address, parameters }: RepeatedRequest): string =>
  asCurl({ address: `${address}/$query`, parameters: {}, body: bodyOf(parameters) })
