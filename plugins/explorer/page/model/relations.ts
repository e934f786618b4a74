/** Relations between dataclasses, each once. */
import { type Attribute, attributeOf, type DataClass, isRelation } from '../base/model.ts'

export interface Relation {
  /** Dataclass that has the attribute; of N entities each leads to one. */
  readonly from: DataClass
  readonly to: DataClass
  readonly name: string
  /** Attribute of the other way, if the user may see it. */
  readonly inverse: string | undefined
  /** Whether one entity leads to many: only where the other way is not seen. */
  readonly isToMany: boolean
}

/** An attribute of a relation, and its way back, are one. */
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
      // The N→1 attribute at the other end stands for both.
      if (isToMany && back?.kind === 'relatedEntity') return []
      return [{ from, to, name: attribute.name, inverse: back?.name, isToMany }]
    }),
  )
}
