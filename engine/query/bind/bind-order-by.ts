import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { ProtocolError } from '../../errors.ts'
import type { OrderTerm } from '../parse/syntax-tree.ts'
import { QueryErrors } from '../query-errors.ts'
import { type ResolvedPath, resolvePath } from './resolve-path.ts'

/** One attribute of a sort order. */
export interface SortKey {
  readonly path: string
  readonly relations: readonly RelatedEntityAttribute[]
  readonly attribute: StorageAttribute
  /** Names inside an object attribute. */
  readonly properties: readonly string[]
  readonly descending: boolean
}

/**
 * Resolves the names of a sort order.
 * @throws 404 with [1500, 1810] for an unknown name, [1594, 1810] for what cannot be sorted
 * Source: protocol notes, 1.6.
 */
export function bindOrderBy(terms: readonly OrderTerm[], dataClass: DataClass): SortKey[] {
  return terms.map(({ path, descending }) => {
    const text = path.steps.map(step => step.name).join('.')
    try {
      return { ...sortKey(resolvePath(path.steps, dataClass)), descending }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      throw QueryErrors.CANNOT_ORDER(text, dataClass.name).causedBy(error)
    }
  })
}

function sortKey({ text, relations, target, elements }: ResolvedPath): Omit<SortKey, 'descending'> {
  if (target.kind === 'calculated') throw QueryErrors.NOT_SORTABLE(text, 'calculated, without code to sort it')
  if (target.kind !== 'storage') throw QueryErrors.NOT_SORTABLE(text, 'a relation')
  if (target.type === 'image' || target.type === 'blob') throw QueryErrors.NOT_SORTABLE(text, `of type ${target.type}`)
  if (target.type === 'object' && elements.length === 0) throw QueryErrors.NOT_SORTABLE(text, 'an object')
  const toOne = relations.map(({ relation }) => {
    if (relation.kind === 'relatedEntity') return relation
    throw QueryErrors.NOT_SORTABLE(text, `at the end of the 1→N relation "${relation.name}"`)
  })
  const properties = elements.map(element => {
    if (element.kind === 'property') return element.name
    throw QueryErrors.NOT_SORTABLE(text, 'one of several elements')
  })
  return { path: text, relations: toOne, attribute: target, properties }
}
