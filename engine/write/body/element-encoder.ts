import { type Attribute, isBinary, type RowAttribute, type StorageAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { valueAmong } from '../../catalog/property-columns.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { encodeRow } from '../../row-format/encode-row.ts'
import { hasKeySpots, NEW_ROW } from '../../row-format/new-row.ts'
import { keyText, type RowLayout } from '../../row-format/row-layout.ts'
import { AttributeValues } from '../value/attribute-values.ts'
import { type AutomaticSource, automaticValue } from '../value/automatic-value.ts'
import type { EncodedRows } from '../contract/encoded-rows.ts'
import { convertValue } from '../value/convert.ts'
import { isJsonObject } from '../../base/json-object.ts'
import { type SaveRules, saveRules, violations } from '../value/validate.ts'
import { RowCopier } from './row-copier.ts'
import { RowsBuilder, viewOf } from './rows-builder.ts'

interface EncoderOptions extends AutomaticSource {
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  /** View of the caller. */
  readonly view: View
  /** See `SaveRequest.trusted`. */
  readonly trusted: boolean
  /** The automatic key that the first element will probably have. */
  readonly nextKey: number
  /** Maximum bytes of the rows; further elements are left to the writer. */
  readonly maxBytes: number
  /** Expected number of elements. */
  readonly elements?: number
}

/**
 * Encodes new entities outside the writer, in the same way as `saveEntity`. An element that has a problem, changes an existing entity, or
 * has anything but values of stored attributes that the caller may set, is left to the writer.
 */
export class ElementEncoder {
  private readonly layout: RowLayout
  private readonly rules: SaveRules
  private readonly settable: ReadonlyMap<string, StorageAttribute>
  /** True if an element without a key gets an automatic number as its key. */
  private readonly numbersKeys: boolean
  private readonly isUsable: boolean
  private readonly builder: RowsBuilder
  private nextKey: number
  /** Encodes elements from their bytes; undefined if the elements are left to the writer. */
  readonly copier: RowCopier | undefined

  constructor(
    private readonly dataClass: DataClass,
    private readonly options: EncoderOptions,
  ) {
    const { layouts, view, nextKey, elements = 0 } = options
    this.layout = layouts.get(dataClass)!
    this.rules = saveRules(dataClass)
    this.settable = settableAttributes(dataClass, this.layout, options)
    this.builder = new RowsBuilder(this.layout, this.rules.indexes, elements)
    const numberedAttributes = this.rules.autoFilled.filter(({ autoFill }) => autoFill === 'increment')
    this.numbersKeys = numberedAttributes.length > 0
    this.isUsable =
      view.shows(dataClass) &&
      view.may('create', dataClass) &&
      numberedAttributes.every(attribute => attribute === dataClass.key) &&
      // The related entity of such a key is not known here.
      !(
        numberedAttributes.length > 0 && this.layout.references.some(({ foreignKey }) => foreignKey === dataClass.key)
      ) &&
      (numberedAttributes.length === 0 || hasKeySpots(this.layout))
    this.nextKey = nextKey
    const { settable, numbersKeys, layout, builder } = this
    const { indexes } = this.rules
    if (this.isUsable)
      this.copier = new RowCopier(layout, builder, {
        ...options,
        settable,
        numbersKeys,
        indexes,
        nextKey: () => this.guessKey(),
      })
  }

  /** Takes the next element of a body. */
  add(element: unknown): void {
    this.append(this.isOpen && isJsonObject(element) ? this.read(element) : undefined)
  }

  /** Takes the next row of a table. @param attributes attributes of the columns @param fields a JSON value for each column */
  addFields(attributes: readonly Attribute[], fields: readonly unknown[]): void {
    const values = this.isOpen ? new AttributeValues<RowAttribute>() : undefined
    const isRead = values && attributes.every((attribute, i) => this.set(values, attribute.name, fields[i]))
    this.append(isRead && this.complete(values) ? values : undefined)
  }

  /** Takes an element that is left to the writer. */
  addNothing(): void {
    this.append(undefined)
  }

  private get isOpen(): boolean {
    return this.isUsable && this.builder.end < this.options.maxBytes
  }

  /** @param values undefined for an element that is left to the writer */
  private append(values: AttributeValues<RowAttribute> | undefined): void {
    if (!values || !this.encode(values)) this.builder.addNothing()
  }

  finish(): EncodedRows {
    return this.builder.finish()
  }

  /** Values of a new entity, with the automatic ones; undefined for an element that is left to the writer. */
  private read(element: Record<string, unknown>): AttributeValues<RowAttribute> | undefined {
    const values = new AttributeValues<RowAttribute>()
    for (const name of Object.keys(element)) {
      const json = element[name]
      if (!name.startsWith('__')) {
        if (!this.set(values, name, json)) return undefined
      } else if (name === '__KEY' && json !== null) return undefined
    }
    return this.complete(values) ? values : undefined
  }

  private set(values: AttributeValues<RowAttribute>, name: string, json: unknown): boolean {
    const attribute = this.settable.get(name)
    const value = attribute && convertValue(attribute, json, this.options.trusted)
    if (value === undefined || value instanceof ProtocolError) return false
    // An explicit null prevents the default.
    if (value !== null || attribute!.default !== undefined) values.set(attribute!, value)
    return true
  }

  /** Adds defaults and automatic values. @returns false if a value violates the model */
  private complete(values: AttributeValues<RowAttribute>): boolean {
    const { autoFilled, defaulted, limited } = this.rules
    for (const attribute of defaulted) {
      if (values.get(attribute) === undefined) values.set(attribute, attribute.default!)
    }
    for (const attribute of autoFilled) {
      const value = values.get(attribute) === undefined ? automaticValue(attribute, this.options) : null
      if (value !== null) values.set(attribute, value)
    }
    return limited.every(attribute => {
      const value = values.get(attribute) ?? null
      const isNumbered = this.numbersKeys && attribute === this.dataClass.key && value === null
      return isNumbered || violations(attribute, value).length === 0
    })
  }

  /** @returns false if the element has to be left to the writer */
  private encode(values: AttributeValues<RowAttribute>): boolean {
    const { dataClass, layout, builder } = this
    const { indexes } = this.rules
    const isNumbered = values.get(dataClass.key) === undefined
    for (let i = 0; i < indexes.length; i++) {
      if (isNumbered && indexes[i] === dataClass.key) continue
      if (!builder.putIndexed(i, valueAmong(values, indexes[i]!))) return false
    }
    if (isNumbered) values.set(dataClass.key, this.guessKey())
    for (const [i, relation] of layout.references.entries()) {
      const key = values.get(relation.foreignKey) ?? null
      builder.putForeignKey(i, key)
      if (key !== null) values.set(relation, keyText(this.options.layouts.get(relation.target)!, key))
    }
    const key = keyText(layout, values.get(dataClass.key)!)
    const row = encodeRow(layout, { ...NEW_ROW, key, values })
    builder.write(viewOf(row))
    builder.addRow(isNumbered ? key.length : 0)
    return true
  }

  private guessKey(): Value {
    const { key } = this.dataClass
    const guess = convertValue(key, this.nextKey++, false)
    // If the type has no numbers left, the writer reports it.
    return guess instanceof ProtocolError ? (convertValue(key, 1, false) as Value) : guess
  }
}

/** Stored attributes that the caller may set in a new entity, by name. */
function settableAttributes(
  dataClass: DataClass,
  { references }: RowLayout,
  { view, trusted }: EncoderOptions,
): ReadonlyMap<string, StorageAttribute> {
  const settable = new Map<string, StorageAttribute>()
  for (const attribute of view.attributes(dataClass)) {
    if (attribute.kind !== 'storage' || isBinary(attribute.type) || attribute.calculation) continue
    if (attribute.readOnly && !trusted) continue
    // A relation and its foreign key are one value.
    const relations = references.filter(({ foreignKey }) => foreignKey === attribute)
    const maySet = [attribute, ...relations].every(guard => view.may('create', dataClass, guard))
    if (maySet && relations.every(({ target }) => view.may('read', target))) settable.set(attribute.name, attribute)
  }
  return settable
}
