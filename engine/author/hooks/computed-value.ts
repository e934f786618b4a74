import type { ValueAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { EntityBase } from '../data-api/entity.ts'
import { fromAuthor } from '../data-api/values.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'

/**
 * Value that the code of a calculated attribute computes for an entity.
 * @throws {QueryErrors.HANDLER} if it is not a value of the attribute's type; what the code throws
 */
export function computedValue(entity: EntityBase, attribute: ValueAttribute): Value {
  const computed = (entity as unknown as Record<string, unknown>)[attribute.name]
  try {
    return fromAuthor(attribute, computed)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { dataClass, name } = attribute
    throw QueryErrors.HANDLER(`${dataClass.name}.${name}`, 'gives a value of another type').causedBy(error)
  }
}
