import type { ValueAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import type { EntityBase } from '../data-api/entity.ts'
import { fromAuthor } from '../data-api/values.ts'
import { placeOf } from '../declare/code-place.ts'
import { membersOf } from '../declare/members.ts'
import { at } from '../declare/running-code.ts'
import { UsageErrors } from '../declare/usage-error.ts'

/**
 * Value that the code of a calculated attribute computes for an entity.
 * @throws {UsageError} it is not a value of the attribute's type; what the code throws
 */
export function computedValue(entity: EntityBase, attribute: ValueAttribute): Value {
  const result = (entity as unknown as Record<string, unknown>)[attribute.name]
  try {
    return fromAuthor(attribute, result)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const { dataClass, name } = attribute
    const fault = UsageErrors.badResult(`${dataClass.name}.${name}`, 'gives a value of another type', error)
    const member = membersOf(entity.constructor).find(each => each.name === name)
    throw member ? at(placeOf(member, entity.constructor.name), fault) : fault
  }
}
