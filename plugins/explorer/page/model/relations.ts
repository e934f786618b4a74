/** Relations between dataclasses, each once. */
import { type Attribute, attributeOf, type DataClass, isRelation } from '../base/model.ts'

export interface Relation {
  /** Dataclass that has the attribute, at the N side of the relation. */
  readonly from: DataClass
  readonly to: DataClass
  readonly name: string
  /** Inverse attribute, if the user may see it. */
  readonly inverse: string | undefined
  /** True if one entity leads to many: only if the user may not see the inverse attribute. */
  readonly isToMany: boolean
}

/** Returns relations in which an attribute and its inverse are combined. */
export function relationsOf(dataClasses: readonly DataClass[]): Relation[] {
  const byName = new Map(dataClasses.map(each => [each.name, each]))
  const byCollection = new Map(dataClasses.map(each => [each.collectionName, each]))
  const targetOf = ({ kind, type }: Attribute): DataClass | undefined =>
    (kind === 'relatedEntity' ? byName : byCollection).get(type)
  return dataClasses.flatMap(from =>
    from.attributes.filter(isRelation).flatMap(attribute => {
      const to = targetOf(attribute)
      if (!to) return []
      const back = attribute.inverseName === undefined ? undefined : attributeOf(to, attribute.inverseName)
      const isToMany = attribute.kind === 'relatedEntities'
      // Represented by the N→1 attribute at the other end.
      if (isToMany && back?.kind === 'relatedEntity') return []
      return [{ from, to, name: attribute.name, inverse: back?.name, isToMany }]
    }),
  )
}
