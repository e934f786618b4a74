/** Requests that compare vectors of the fixture "passages". */
import type { ProtocolCase } from '../support/checks/protocol-table.ts'

export const X = [1, 0, 0]
export type Expected = Partial<ProtocolCase>

/** A request with a filter, `$params` and further query parameters. */
export const ask = (
  spec: string,
  name: string,
  filter: string,
  params: unknown,
  more: string,
  expected: Expected,
): ProtocolCase => ({
  spec,
  name: `${name}: ${filter}`,
  get: `/Passage?$filter="${encodeURIComponent(filter)}"&$params='${
    typeof params === 'string' ? params : encodeURIComponent(JSON.stringify(params))
  }'${more}`,
  ...expected,
})
export const finds = (
  spec: string,
  name: string,
  filter: string,
  params: unknown,
  keys: string[],
  more = '',
): ProtocolCase => ask(spec, name, filter, params, more, { keys, count: keys.length })

export const cosine = (threshold: number | null) => [{ vector: X, metric: 'cosine', threshold }]
export const dot = (threshold: number) => [{ vector: X, metric: 'dot', threshold }]
export const euclidean = (threshold: number) => [{ vector: X, metric: 'euclidean', threshold }]
