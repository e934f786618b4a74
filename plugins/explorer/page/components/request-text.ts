/** A request as people repeat it elsewhere. */
import { bodyOf, type Parameters, queryOf } from '../base/parameters.ts'

export interface RepeatedRequest {
  /** `http://127.0.0.1:8080/rest/City`. */
  readonly address: string
  readonly parameters: Parameters
  /** JSON of a POST. */
  readonly body?: unknown
}

/** A text as one word of a POSIX shell, whatever it holds. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export const urlOf = ({ address, parameters }: RepeatedRequest): string => `${address}${queryOf(parameters)}`

/** `-g`: brackets and braces of addresses mean themselves. */
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

/** A read by `$query`, whose body has no limit of length. */
export const asQuery = ({ address, parameters }: RepeatedRequest): string =>
  asCurl({ address: `${address}/$query`, parameters: {}, body: bodyOf(parameters) })
