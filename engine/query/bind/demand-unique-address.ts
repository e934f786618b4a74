import type { View } from '../../catalog/view.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ReadRequest } from '../contract/request.ts'

/**
 * Refuses the address `Class:attribute(value)` where more than one entity may have the value: a read shows the first of them,
 * but what is done to an entity must not depend on which one that is.
 * @throws {QueryErrors.NOT_UNIQUE}
 * Source: base specification, 4.2.
 */
export function demandUniqueAddress({ dataClass, source }: ReadRequest, view: View): void {
  if (source.kind !== 'attribute') return
  const attribute = view.attribute(view.dataClass(dataClass), source.attribute)
  // An unknown name is reported by the read.
  if (!attribute) return
  const isOwnAlias = attribute.kind === 'alias' && attribute.relations.length === 0
  const addressed = isOwnAlias ? attribute.target : attribute
  if (addressed.kind !== 'storage' || !addressed.unique) throw QueryErrors.NOT_UNIQUE(attribute.name, dataClass)
}
