/** Selections of related entities. */
import { type Attribute, attributeOf, type DataClass, targetOf } from './catalog.ts'
import { equals } from './condition.ts'
import { linkTo } from './place.ts'

/**
 * A link to the entities that `relation` leads to from one entity, as a filter over the way back: `#/City?filter=country.code = "FR"`.
 * Undefined where the user may not see the way back or the key.
 */
export function linkToRelated(dataClass: DataClass, relation: Attribute, key: string): string | undefined {
  const target = targetOf(relation)
  const back = target && relation.inverseName !== undefined ? attributeOf(target, relation.inverseName) : undefined
  const keyName = dataClass.key[0]?.name
  if (!target || !back || keyName === undefined) return undefined
  return linkTo([target.name], { filter: equals(`${back.name}.${keyName}`, key) })
}
