import { isRelation, type RelatedEntityAttribute, type ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { type View, wholeView } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { codeOf } from '../contract/calculated-code.ts'
import { parseOrderBy } from '../parse/parse-order-by.ts'
import type { Similarity } from '../../vector/math/similarity.ts'
import type { OrderTerm } from '../parse/syntax-tree.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { type ResolvedPath, resolvePath } from './resolve-path.ts'

/** One attribute of a sort order. */
export interface SortKey {
  readonly path: string
  readonly relations: readonly RelatedEntityAttribute[]
  readonly attribute: ValueAttribute
  /** Names inside an object attribute. */
  readonly properties: readonly string[]
  readonly descending: boolean
  /** Set for a vector, which is sorted by its scores. */
  readonly similarity?: Similarity
}

/** Maximum nesting of order handlers whose orders use other calculated attributes. */
const MAX_HANDLERS = 10

/**
 * Resolves the names of a sort order.
 * @throws 404 with [1500, 1810] for an unknown name, [1594, 1810] for a path that cannot be sorted
 * Source: protocol notes, 1.6.
 */
export function bindOrderBy(terms: readonly OrderTerm[], dataClass: DataClass, view: View): SortKey[] {
  return bindTerms(terms, dataClass, view, 0)
}

/** @param handlers number of order handlers whose orders enclose these terms */
function bindTerms(terms: readonly OrderTerm[], dataClass: DataClass, view: View, handlers: number): SortKey[] {
  return terms.flatMap(({ path, descending }) => {
    const text = path.steps.map(step => step.name).join('.')
    try {
      const resolvedPath = resolvePath(path.steps, dataClass, view)
      return orderByCode(resolvedPath, descending, view, handlers) ?? [{ ...sortKey(resolvedPath), descending }]
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.httpStatus >= 500) throw error
      throw QueryErrors.CANNOT_ORDER(text, dataClass.name).causedBy(error)
    }
  })
}

/** Order from the order handler of a calculated attribute; undefined to order by its values. @throws {Suspended} */
function orderByCode(path: ResolvedPath, descending: boolean, view: View, handlers: number): SortKey[] | undefined {
  const { target } = path
  if (target.kind !== 'calculated' || !target.calculation) return undefined
  const order = codeOf(target).orderBy?.(descending)
  if (!order) return undefined
  const { text, fault } = order
  if (handlers === MAX_HANDLERS) throw fault('gives orders that lead to themselves')
  const relations = toOne(path)
  try {
    const keys = bindTerms(parseOrderBy(text), target.dataClass, wholeView(view.catalog), handlers + 1)
    return keys.map(key => ({ ...key, relations: [...relations, ...key.relations] }))
  } catch (error) {
    if (!(error instanceof ProtocolError) || error.httpStatus >= 500) throw error
    throw fault(`gives an order that cannot be used, ${excerpt(text)}`, error)
  }
}

function sortKey(path: ResolvedPath): Omit<SortKey, 'descending'> {
  const { text, target, elements } = path
  if (target.kind === 'calculated' && !target.calculation)
    throw QueryErrors.NOT_SORTABLE(text, 'calculated, without code to sort it')
  if (isRelation(target)) throw QueryErrors.NOT_SORTABLE(text, 'a relation')
  if (target.type === 'image' || target.type === 'blob') throw QueryErrors.NOT_SORTABLE(text, `of type ${target.type}`)
  if (target.type === 'vector' && target.kind === 'calculated')
    throw QueryErrors.NOT_SORTABLE(text, 'a calculated vector')
  if (target.type === 'object' && elements.length === 0) throw QueryErrors.NOT_SORTABLE(text, 'an object')
  const properties = elements.map(element => {
    if (element.kind === 'property') return element.name
    throw QueryErrors.NOT_SORTABLE(text, 'one of several elements')
  })
  return { path: text, relations: toOne(path), attribute: target, properties }
}

const toOne = ({ text, relations }: ResolvedPath): RelatedEntityAttribute[] =>
  relations.map(({ relation }) => {
    if (relation.kind === 'relatedEntity') return relation
    throw QueryErrors.NOT_SORTABLE(text, `at the end of the 1→N relation "${relation.name}"`)
  })
