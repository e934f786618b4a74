import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { PlainForm } from '../../catalog/types/plain-form.ts'
import { valueAmong } from '../../catalog/property-columns.ts'
import type { Value } from '../../catalog/value.ts'
import { keyBytes, writePlainTextKey } from '../../row-format/index-key.ts'
import { newRowStart } from '../../row-format/new-row.ts'
import { keyText, type RowLayout, rowBytes } from '../../row-format/row-layout.ts'
import { isPlainKey } from '../../row-format/wire-value.ts'
import { type CollectionSlot, type CopiedSlot, copiedSlots, NO_ENTITY, type RelationSlot } from './copied-slot.ts'
import { NO_VALUE } from '../contract/encoded-rows.ts'
import { CopiedValues, type CopyOptions } from './copied-values.ts'
import { type RowsBuilder, viewOf } from './rows-builder.ts'

/** Length of a text whose fold in a unique index is surely whole. */
const SHORT_TEXT = 100
const QUOTE = 0x22
/** Number of elements in sequence after which no further one is tried. */
const MAX_MISSES = 50
const WORD = 4

interface CopierOptions extends CopyOptions {
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** Attributes for which elements may have values, by name. */
  readonly settable: ReadonlyMap<string, StorageAttribute>
  /** See `indexesOf`. */
  readonly indexes: readonly StorageAttribute[]
  readonly nextKey: () => Value
  /** Maximum bytes of the rows. */
  readonly maxBytes: number
}

/**
 * Assembles rows of new entities from the bytes of their values in a file or a body, most of which are not decoded. A row is the same as
 * that of `ElementEncoder`, byte for byte. For each element, {@link begin} is called first, then methods of {@link values} for each of
 * its attributes, then {@link finish}. If one of them fails, `ElementEncoder` encodes the element.
 */
export class RowCopier {
  readonly values: CopiedValues
  private readonly slots: readonly CopiedSlot[]
  private readonly keySlot: number
  /** Slot of each index; -1 for an index over several attributes or over a property. */
  private readonly indexSlots: readonly number[]
  /** True for an index of a foreign key whose number is found with the link. */
  private readonly isLinked: readonly boolean[]
  /** Values in indexes without a slot. */
  private readonly indexValues: Value[]
  /** Bytes of a row before and after its key. */
  private readonly beforeKey: DataView
  private readonly afterKey: DataView
  /** Place of the link in each slot of a relation; -1 for one that is in the texts. */
  private readonly links: Int32Array
  /** Text of the key; undefined if it is copied. */
  private convertedKey: string | undefined

  /** Number of elements since the last one that could be copied. */
  private misses = 0

  constructor(
    private readonly layout: RowLayout,
    private readonly builder: RowsBuilder,
    private readonly options: CopierOptions,
  ) {
    const { dataClass, slotOf } = layout
    this.slots = copiedSlots(layout, options.indexes, options)
    this.values = new CopiedValues(layout, this.slots, options)
    this.keySlot = slotOf.get(dataClass.key)!
    this.indexSlots = options.indexes.map(attribute => slotOf.get(attribute) ?? -1)
    this.isLinked = options.indexes.map((_, index) => this.slots.some(({ relation }) => relation?.index === index))
    this.indexValues = options.indexes.map(() => null)
    const { beforeKey, afterKey } = newRowStart(layout)
    this.beforeKey = viewOf(beforeKey)
    this.afterKey = viewOf(afterKey)
    this.links = new Int32Array(this.slots.length)
  }

  /** Slot of an attribute for which elements may have values. */
  slotOf(name: string): number | undefined {
    const attribute = this.options.settable.get(name)
    return attribute && this.layout.slotOf.get(attribute)
  }

  /** Form of the bytes that can be copied to a slot. */
  formOf(slot: number): PlainForm | undefined {
    return this.slots[slot]!.value!.form
  }

  /** True if elements are encoded, and some of the last ones could be copied. */
  get isUseful(): boolean {
    return this.misses < MAX_MISSES && this.builder.end < this.options.maxBytes
  }

  /** Begins an element. @param source has its bytes */
  begin(source: Buffer): void {
    this.misses++
    this.values.begin(source)
  }

  /** Adds the row of the element to the builder. @returns false if it cannot be copied */
  finish(): boolean {
    const { values, builder, options, layout, keySlot } = this
    if (!values.complete() || !this.prepareIndexes()) return false
    this.putIndexes()
    if (values.isNumbered) values.convert(keySlot, options.nextKey())
    this.putForeignKeys()
    this.convertedKey = values.isConverted(keySlot) ? keyText(layout, values.valueIn(keySlot)) : undefined
    this.write()
    builder.addRow(values.isNumbered ? this.convertedKey!.length : 0)
    this.misses = 0
    return true
  }

  /** Computes values that are in no slot. @returns false if an index cannot have a value as a whole */
  private prepareIndexes(): boolean {
    const { indexes } = this.options
    for (let i = 0; i < indexes.length; i++) {
      const slot = this.indexSlots[i]!
      if (slot < 0) this.indexValues[i] = valueAmong(this.values, indexes[i]!)
      if (indexes[i]!.unique && !this.isShort(slot < 0 ? this.indexValues[i]! : undefined, slot)) return false
    }
    return true
  }

  private isShort(indexValue: Value | undefined, slot: number): boolean {
    const { values } = this
    if (indexValue === undefined && values.isCopied(slot))
      return values.ends[slot]! - values.starts[slot]! <= SHORT_TEXT
    const value = indexValue === undefined ? values.valueIn(slot) : indexValue
    return typeof value !== 'string' || value.length <= SHORT_TEXT
  }

  private putIndexes(): void {
    const { builder, values, indexSlots } = this
    for (let i = 0; i < indexSlots.length; i++) {
      const slot = indexSlots[i]!
      if (slot < 0) builder.putIndexed(i, this.indexValues[i]!)
      else if (values.isCopied(slot) ? this.isLinked[i] : values.isNumbered && slot === this.keySlot) continue
      else {
        const isFolded = values.isCopied(slot) && this.slots[slot]!.value!.isFolded
        const end = isFolded ? writePlainTextKey(values.source, values.starts[slot]!, values.ends[slot]!) : 0
        if (end > 0) builder.putIndexKey(i, keyBytes, end)
        else builder.putIndexed(i, values.valueIn(slot))
      }
    }
  }

  private putForeignKeys(): void {
    const { builder, slots, values } = this
    for (let slot = 0; slot < slots.length; slot++) {
      const { relation } = slots[slot]!
      if (!relation) continue
      const { keySlot, links, reference, index } = relation
      const place = values.isCopied(keySlot)
        ? links.placeOf(values.source, values.starts[keySlot]!, values.ends[keySlot]!)
        : -1
      this.links[slot] = place
      if (place >= 0) {
        if (place === links.count) this.addLink(slot, relation)
        builder.putForeignNumber(reference, links.number(place))
        if (index >= 0) builder.putIndexNumber(index, links.indexNumber(place))
      } else {
        builder.putForeignKey(reference, values.valueIn(keySlot))
        values.texts[slot] = this.linkOf(slot, relation)
      }
    }
  }

  private addLink(slot: number, relation: RelationSlot): void {
    const { builder } = this
    const { keySlot, links, reference, index } = relation
    const value = this.values.valueIn(keySlot)
    if (index >= 0) builder.putIndexed(index, value)
    links.add(
      this.linkOf(slot, relation),
      builder.foreignNumber(reference, value),
      index < 0 ? NO_VALUE : builder.indexNumber(index),
    )
  }

  private linkOf(slot: number, { attribute, keySlot }: RelationSlot): string {
    const value = this.values.valueIn(keySlot)
    const key = value === null ? null : keyText(this.options.layouts.get(attribute.target)!, value)
    return this.layout.encoders[slot]!(key, NO_ENTITY)
  }

  private write(): void {
    const { builder, slots } = this
    const { offsets, text } = rowBytes(this.layout)
    builder.write(this.beforeKey)
    this.writeKey()
    builder.write(this.afterKey)
    for (let slot = 0; slot < slots.length; slot++) {
      builder.setWord(offsets + WORD * slot, builder.written - text)
      this.writeSlot(slot)
    }
    builder.setWord(offsets + WORD * slots.length, builder.written - text)
  }

  private writeSlot(slot: number): void {
    const { builder, values } = this
    const { name, copiedName, value, relation, collection } = this.slots[slot]!
    if (value && values.isCopied(slot)) {
      builder.write(copiedName)
      builder.write(values.view, values.starts[slot], values.ends[slot])
      if (value.form!.isText) builder.writeByte(QUOTE)
      return
    }
    builder.write(name)
    if (value) {
      if (values.isConverted(slot)) builder.writeText(values.texts[slot]!)
      else builder.write(values.fillingOf(slot)!.json)
    } else if (relation) {
      const place = this.links[slot]!
      if (place < 0) builder.writeText(values.texts[slot]!)
      else builder.write(relation.links.view, relation.links.start(place), relation.links.end(place))
    } else if (collection) this.writeCollection(slot, collection)
  }

  /** Writes the text of the key, without quotes. */
  private writeKey(): void {
    const { values, keySlot } = this
    if (this.convertedKey === undefined) this.builder.write(values.view, values.starts[keySlot], values.ends[keySlot])
    else this.builder.writeText(JSON.stringify(this.convertedKey).slice(1, -1))
  }

  private writeCollection(slot: number, { beforeKey, afterKey }: CollectionSlot): void {
    const { builder, values, keySlot } = this
    const { source, starts, ends } = values
    if (this.convertedKey === undefined && isPlainKey(source, starts[keySlot]!, ends[keySlot]!)) {
      builder.write(beforeKey)
      this.writeKey()
      builder.write(afterKey)
      return
    }
    const key = this.convertedKey ?? source.toString('utf8', starts[keySlot], ends[keySlot])
    builder.writeText(this.layout.encoders[slot]!(undefined, { ...NO_ENTITY, key }))
  }
}
