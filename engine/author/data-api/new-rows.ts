import type { RowAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { encodeRow } from '../../row-format/encode-row.ts'
import { ANY_TIME } from '../../row-format/new-row.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { type AutomaticSource, automaticValue } from '../../write/value/automatic-value.ts'

/**
 * Rows of new entities in memory, so that code reads the values that the writer is going to fill in. These are not changes: the writer
 * fills them in itself, and the caller needs no rights for them.
 */
export class NewRows {
  /** A row with the defaults; undefined if there are none. */
  readonly defaults: RowView | undefined
  /** True if the time or the user of a save is a value of the entity. */
  readonly areAutomatic: boolean
  private readonly filled: readonly StorageAttribute[]

  constructor(private readonly layout: RowLayout) {
    const attributes = layout.slots.filter(attribute => attribute.kind === 'storage')
    const isAutomatic = ({ autoFill }: StorageAttribute): boolean => autoFill === 'now' || autoFill === 'user'
    this.areAutomatic = attributes.some(isAutomatic)
    this.filled = attributes.filter(each => each.default !== undefined || isAutomatic(each))
    this.defaults = attributes.some(each => each.default !== undefined)
      ? this.row(attribute => attribute.default ?? null)
      : undefined
  }

  /** A row with the defaults and the automatic values of a save. */
  automatic(source: Omit<AutomaticSource, 'randomUuid'>): RowView {
    const all = { ...source, randomUuid: () => '' }
    return this.row(attribute => attribute.default ?? automaticValue(attribute, all))
  }

  private row(valueIn: (attribute: StorageAttribute) => Value): RowView {
    const values = new Map<RowAttribute, Value>(this.filled.map(attribute => [attribute, valueIn(attribute)]))
    const content = { key: '', stamp: 0, globalStamp: 0, timestamp: ANY_TIME, values, references: [] }
    return new RowView(this.layout, encodeRow(this.layout, content)).copy()
  }
}
