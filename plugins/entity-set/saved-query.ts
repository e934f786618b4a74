import { type SavedQuery, savedQuery } from '../../engine/index.ts'
import type { ClientText, RestRequest } from '../../kernel/api.ts'

/**
 * Query that recreates a set after its end.
 *
 * | parameter | saves |
 * |---|---|
 * | `$savedfilter=true` | filter and address of the request |
 * | `$savedfilter="text"` | that filter; `$all` or an empty text stands for all entities |
 * | `$savedorderby=true` | filter, address and order of the request |
 * | `$savedorderby="text"` | filter and address of the request, and that order |
 *
 * Source: base specification, 3; protocol notes, 6.2.
 */
export function savedAtCreation(request: RestRequest): SavedQuery | undefined {
  const { filter, params, source, orderBy } = request.read
  const [savedFilter, savedOrder] = [readGiven(request, '$savedfilter'), readGiven(request, '$savedorderby')]
  if (!savedFilter && !savedOrder) return undefined
  const order = savedOrder?.kind === 'flag' ? orderBy : savedOrder?.text
  return savedFilter?.kind === 'text'
    ? savedQuery({ source: { kind: 'all' }, filter: savedFilter.text, params, orderBy: order })
    : savedQuery({ source, filter, params, orderBy: order })
}

/** Query that recreates a set, from the texts of a later request. Older clients send these with every request. */
export function savedAtAccess(request: RestRequest): SavedQuery | undefined {
  const [filter, order] = [readGiven(request, '$savedfilter'), readGiven(request, '$savedorderby')]
  if (filter?.kind !== 'text' && order?.kind !== 'text') return undefined
  return savedQuery({
    source: { kind: 'all' },
    filter: filter?.text,
    params: request.read.params,
    orderBy: order?.text,
  })
}

interface Given {
  kind: 'flag' | 'text'
  text: ClientText | undefined
}

function readGiven(request: RestRequest, name: string): Given | undefined {
  const value = request.text(name)
  const flag = request.parameter(name)?.toLowerCase()
  if (value === undefined || flag === 'false' || flag === '0') return undefined
  if (flag === 'true' || flag === '1') return { kind: 'flag', text: undefined }
  return { kind: 'text', text: value === '' || value === '$all' ? undefined : value }
}
