/** Parameters of requests, in the form of addresses: texts of filters and orders in quotes. */
export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>

const entriesOf = (parameters: Parameters) =>
  Object.entries(parameters).filter(([, value]) => value !== undefined && value !== '')

/** Query string, `?$top=1&$filter=…`; empty if there are no parameters. */
export function queryOf(parameters: Parameters): string {
  const query = entriesOf(parameters).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return query.length > 0 ? `?${query.join('&')}` : ''
}

/** Body of `$query` for the parameters, without the quotes of texts. */
export const bodyOf = (parameters: Parameters): Parameters =>
  Object.fromEntries(entriesOf(parameters).map(([name, value]) => [name, withoutQuotes(value)]))

const withoutQuotes = (value: Parameters[string]): Parameters[string] =>
  typeof value === 'string' && /^".*"$/s.test(value) ? value.slice(1, -1) : value
