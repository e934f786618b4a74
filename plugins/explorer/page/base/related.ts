/** Selections of related entities. */
import { type Attribute, attributeOf, type DataClass, targetOf } from './catalog.ts'
import { equals } from './condition.ts'
import { linkTo } from './place.ts'

/**
 * A link to the entities to which `relation` leads from one entity, as a filter over the inverse relation: `#/City?filter=country.code = "FR"`.
 * Undefined if the user may not see the inverse relation or the key.
 */
export function linkToRelated(dataClass: DataClass, relation: Attribute, key: string): string | undefined {
  const target = targetOf(relation)
  const back = target && relation.inverseName !== undefined ? attributeOf(target, relation.inverseName) : undefined
  const keyName = dataClass.key[0]?.name
  if (!target || !back || keyName === undefined) return undefined
  return linkTo([target.name], { filter: equals(`${back.name}.${keyName}`, key) })
}
