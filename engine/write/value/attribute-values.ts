import type { RowAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'

/**
 * Values of some attributes of one dataclass, in insertion order. A cheaper Map, indexed by attribute position, because one is created for
 * each saved entity.
 */
export class AttributeValues<A extends RowAttribute = StorageAttribute> {
  private readonly order: A[] = []
  private readonly values: (Value | undefined)[] = []

  get attributes(): readonly A[] {
    return this.order
  }

  get(attribute: RowAttribute): Value | undefined {
    return this.values[attribute.position]
  }

  set(attribute: A, value: Value): void {
    if (this.values[attribute.position] === undefined) this.order.push(attribute)
    this.values[attribute.position] = value
  }

  delete(attribute: A): void {
    if (this.values[attribute.position] === undefined) return
    this.values[attribute.position] = undefined
    this.order.splice(this.order.indexOf(attribute), 1)
  }
}
