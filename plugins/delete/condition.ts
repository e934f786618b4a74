import { suggestion } from '../../engine/index.ts'
import type { RestRequest } from '../../kernel/api.ts'
import { DeleteErrors } from './errors.ts'

const FLAGS = ['$method', '$atomic', '$atOnce', '$atonce', '$exact', '$prettyprint', '$prettyformatting']
/** Parameters of entity sets, which have no effect elsewhere. */
const OF_SETS = [
  '$clean',
  '$logicOperator',
  '$otherCollection',
  '$refresh',
  '$savedfilter',
  '$savedorderby',
  '$timeout',
]
/** Parameters about the answer of a read, which some clients send with every request. */
const OF_ANSWERS = ['$asArray', '$attributes', '$brief', '$expand', '$orderby', '$querypath', '$queryplan']
const PAGING = ['$top', '$limit', '$skip']
const ORDER_ONLY = /^\s*order\s+by\b/i

/**
 * Refuses a deletion that its client meant to narrow but did not: an empty filter or key, a misspelled parameter, paging.
 * Taken literally, each of these would empty the dataclass.
 * @param selects true for a parameter that decides which entities are selected
 * @throws {DeleteErrors}
 */
export function demandCondition(request: RestRequest, selects: (name: string) => boolean): void {
  const { read, parameters } = request
  const { dataClass, source, output } = read
  const empty = (what: string) => DeleteErrors.EMPTY_CONDITION(what, dataClass)
  if (source.kind === 'all' && source.blank) throw empty('the address names neither key nor entity set where it should')
  const { repeatedParameter } = request
  if (repeatedParameter !== undefined) throw DeleteErrors.REPEATED(repeatedParameter)
  // In `/City/`, the key after the slash is empty.
  if (source.kind === 'all' && !parameters.has('$filter') && request.transport.path.endsWith('/')) {
    throw empty('the address ends with "/", where a key may be missing')
  }
  demandOneSelection([...parameters.keys()].filter(name => name !== '$params' && selects(name)))
  for (const [name, value] of parameters) {
    if (PAGING.includes(name)) throw DeleteErrors.PAGED(name)
    if (name === '$filter' && value.trim() === '') throw empty('$filter is empty')
    if (name === '$filter' && ORDER_ONLY.test(value)) throw empty('$filter has an order and no condition')
    if (name === '$params' && !parameters.has('$filter')) throw empty('$params has no $filter that it belongs to')
    if (OF_SETS.includes(name)) {
      if (!output.isEntitySet) throw empty(`${name} selects nothing without an entity set`)
      if (name === '$refresh' && request.flag(name)) throw DeleteErrors.REFRESHED()
    } else if (!FLAGS.includes(name) && !OF_ANSWERS.includes(name)) {
      if (!selects(name)) throw unknown(name)
      if (name === '$params') continue
      if (value.trim() === '') throw empty(`${name} is empty`)
      if (source.kind === 'all' && read.filter === undefined) throw empty(`${name} has not selected anything`)
    }
  }
}

/** Refuses a parameter of a plugin beside another selecting one: it may replace what the other one has selected. */
function demandOneSelection(names: readonly string[]): void {
  const [name, otherName] = [...names.filter(each => each !== '$filter'), ...names.filter(each => each === '$filter')]
  if (otherName !== undefined) throw DeleteErrors.COMBINED(name!, otherName)
}

function unknown(name: string) {
  const knownNames = ['$filter', '$params', ...FLAGS, ...OF_SETS]
  return DeleteErrors.UNKNOWN_PARAMETER(name.slice(0, 100), suggestion(name, knownNames))
}

/** Empty bodies, from clients that send a body with every request. */
const EMPTY_BODIES = new Set(['', '{}', '[]', 'null'])
const MAX_BODY_BYTES = 1024

/** Refuses a request with a body, since its keys or filter would be ignored. @throws {DeleteErrors.BODY} 413 for a long body */
export async function demandNoBody(request: RestRequest): Promise<void> {
  const body = await request.body(MAX_BODY_BYTES)
  if (!EMPTY_BODIES.has(Buffer.from(body).toString('latin1').trim())) throw DeleteErrors.BODY()
}
