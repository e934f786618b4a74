import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ReadRequest } from '../contract/request.ts'
import { visibleAttribute } from './resolve-path.ts'

/**
 * Rejects the address `Class:attribute(value)` if several entities may have the value. A read shows the first of them, but an
 * operation on an entity must not depend on which one is first.
 * @throws {QueryErrors.NOT_UNIQUE} {@link QueryErrors.UNKNOWN_ATTRIBUTE}
 * Source: base specification, 4.2.
 */
export function demandUniqueAddress({ dataClass, source }: ReadRequest, view: View): void {
  if (source.kind !== 'attribute' || uniqueAttribute(source.attribute, view.dataClass(dataClass), view)) return
  throw QueryErrors.NOT_UNIQUE(source.attribute, dataClass)
}

/** Attribute of `Class:attribute(value)` if its values are unique. @throws {QueryErrors.UNKNOWN_ATTRIBUTE} */
export function uniqueAttribute(name: string, dataClass: DataClass, view: View): StorageAttribute | undefined {
  const attribute = visibleAttribute(dataClass, name, view)
  const isOwnAlias = attribute.kind === 'alias' && attribute.relations.length === 0
  const addressedAttribute = isOwnAlias ? attribute.target : attribute
  return addressedAttribute.kind === 'storage' && addressedAttribute.unique ? addressedAttribute : undefined
}
