import type { View } from '../../catalog/view.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ReadRequest } from '../contract/request.ts'

/**
 * Rejects the address `Class:attribute(value)` if several entities may have the value. A read shows the first of them, but an
 * operation on an entity must not depend on which one is first.
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
