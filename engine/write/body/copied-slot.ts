import type { RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { PlainForm } from '../../catalog/types/plain-form.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { Value } from '../../catalog/value.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { automaticValue, type AutomaticSource } from '../value/automatic-value.ts'
import { limitsValues, violations } from '../value/validate.ts'
import { LinkCache } from './link-cache.ts'
import { viewOf } from './rows-builder.ts'

export const RANDOM = Symbol('a random UUID')

interface Filling {
  readonly value: Value
  readonly json: DataView
}

/** Value of an element that has none: a constant, or a new UUID in each; undefined if the element is left to the writer. */
export type Filler = Filling | typeof RANDOM | undefined

/** Content of a slot in new rows. */
export interface CopiedSlot {
  /** `,"name":`. */
  readonly name: DataView
  /** The same before a value that is copied, with the quote of a text. */
  readonly copiedName: DataView
  readonly value: ValueSlot | undefined
  readonly relation: RelationSlot | undefined
  readonly collection: CollectionSlot | undefined
}

/** Slot of a storage attribute. */
interface ValueSlot {
  readonly attribute: StorageAttribute
  readonly isKey: boolean
  /** True if an index has the folded text. */
  readonly isFolded: boolean
  readonly form: PlainForm | undefined
  /** True if the model restricts the values. */
  readonly isLimited: boolean
  readonly whenAbsent: Filler
  readonly whenNull: Filler
}

/** Slot of a N→1 relation. */
export interface RelationSlot {
  readonly attribute: RelatedEntityAttribute
  /** Index among the references of the layout. */
  readonly reference: number
  /** Slot of the foreign key, and its index; -1 if it has none. */
  readonly keySlot: number
  readonly index: number
  readonly links: LinkCache
}

/** Link of a 1→N relation, around the key. */
export interface CollectionSlot {
  readonly beforeKey: DataView
  readonly afterKey: DataView
}

export function copiedSlots(
  layout: RowLayout,
  indexes: readonly StorageAttribute[],
  source: AutomaticSource,
): CopiedSlot[] {
  const { slots, slotOf, referenceOf, prefixes } = layout
  return slots.map((attribute, slot) => {
    const name = viewOf(prefixes[slot]!)
    const none = { name, copiedName: name, value: undefined, relation: undefined, collection: undefined }
    if (attribute.kind === 'relatedEntities') return { ...none, collection: collectionSlot(layout, slot) }
    if (attribute.kind === 'relatedEntity') {
      const { foreignKey } = attribute
      const [reference, keySlot] = [referenceOf.get(attribute)!, slotOf.get(foreignKey)!]
      const index = indexes.indexOf(foreignKey)
      return { ...none, relation: { attribute, reference, keySlot, index, links: new LinkCache() } }
    }
    const value = valueSlot(layout, slot, attribute, source)
    return { ...none, value, copiedName: value.form?.isText ? textView(`${layout.names[slot]}"`) : name }
  })
}

function valueSlot(layout: RowLayout, slot: number, attribute: StorageAttribute, source: AutomaticSource): ValueSlot {
  const fill = (value: Value): Filling | undefined => {
    if (violations(attribute, value).length > 0) return undefined
    return { value, json: textView(layout.encoders[slot]!(value, NO_ENTITY)) }
  }
  const isRandom = attribute.autoFill === 'uuid'
  const automatic = isRandom ? RANDOM : fill(automaticValue(attribute, source))
  return {
    attribute,
    isKey: attribute === layout.dataClass.key,
    isFolded: TYPES[attribute.type].cell === 'text',
    form: TYPES[attribute.type].plainForm?.(attribute, layout.wire),
    isLimited: limitsValues(attribute),
    whenAbsent: attribute.default === undefined ? automatic : fill(attribute.default),
    // An explicit null prevents the default.
    whenNull: attribute.default === undefined ? automatic : fill(null),
  }
}

const textView = (text: string): DataView => viewOf(Buffer.from(text))

/** Values of an attribute do not depend on the entity. */
export const NO_ENTITY = { key: '', stamp: 1 }

/** Keys that differ in one place of a link. */
const [ONE, TWO] = ['1', '2']

function collectionSlot({ encoders }: RowLayout, slot: number): CollectionSlot {
  const [one, two] = [ONE, TWO].map(key => encoders[slot]!(undefined, { key, stamp: 1 })) as [string, string]
  let place = 0
  while (one[place] === two[place]) place++
  return { beforeKey: textView(one.slice(0, place)), afterKey: textView(one.slice(place + ONE.length)) }
}
