import type { ValueAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { ProtocolError } from '../errors.ts'
import type { EntityBase } from '../language/entity.ts'
import { fromAuthor } from '../language/values.ts'
import { QueryErrors } from '../query/query-errors.ts'

/**
 * What the code of a calculated attribute gives for an entity.
 * @throws {QueryErrors.HANDLER} when it is no value of the attribute's type; what the code throws
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
