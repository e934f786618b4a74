import type { Attribute, RelatedEntityAttribute, RowAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Value } from '../catalog/value.ts'
import type { View } from '../catalog/view.ts'
import type { ProtocolError } from '../errors.ts'
import { PermissionErrors } from '../permission/permission-errors.ts'
import type { RowView } from '../storage/row-view.ts'
import { AttributeValues } from './attribute-values.ts'
import type { LockTable } from './lock-table.ts'
import type { SaveRequest } from './requests.ts'
import { WriteErrors } from './write-errors.ts'
import type { StoredEntity, WriteTransaction } from './write-transaction.ts'

/** What all entities of a request share. */
export interface SaveContext {
  readonly locks: LockTable
  /** Handle of the session. */
  readonly owner: string | undefined
  readonly transaction: WriteTransaction
  readonly dataClass: DataClass
  /** What exists for the one who saves, and what may be done. */
  readonly view: View
  readonly mode: SaveRequest['mode']
  readonly trusted: boolean
  readonly anyStamp: boolean
  readonly uploads: SaveRequest['uploads']
  readonly received: SaveRequest['received']
  /** `__TIMESTAMP` of what is saved now. */
  readonly timestamp: string
  readonly randomUuid: () => string
}

/** What one entity is to become, and what speaks against it. */
export class EntityChange {
  /** In the order in which they are reported. */
  readonly problems: ProtocolError[] = []
  /** What differs from what is stored. */
  readonly values = new AttributeValues<RowAttribute>()
  /** Read after everything else: what they mean depends on the foreign keys that are sent beside them. */
  sentRelations: readonly { readonly relation: RelatedEntityAttribute; readonly key: Value }[] = []
  /** Row ids of related entities, in the order of the layout's references. */
  readonly references: (number | undefined)[]
  readonly row: RowView | undefined
  /** Attributes with a problem that makes further checks of them pointless. */
  private readonly broken: StorageAttribute[] = []
  /** Set by code, which needs nobody's leave. */
  private readonly made: StorageAttribute[] = []

  /** @param old undefined for a new entity */
  constructor(
    readonly context: SaveContext,
    readonly old: StoredEntity | undefined,
  ) {
    this.row = old?.row
    this.references = old ? old.row.layout.references.map((_, index) => old.row.reference(index)) : []
  }

  stored(attribute: StorageAttribute): Value {
    // Of an image or a blob true: it differs from whatever is sent.
    return (this.row?.value(attribute) ?? null) as Value
  }

  change(attribute: StorageAttribute, value: Value): void {
    if (sameValue(this.stored(attribute), value)) return
    if (!this.mayGive(attribute)) this.refuse(attribute)
    else if (this.old && attribute === attribute.dataClass.key) {
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, 'it is the primary key'))
    } else if (attribute.readOnly && !(this.context.trusted && !attribute.calculation)) {
      const reason = attribute.calculation ? 'it is calculated' : 'it is read-only'
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, reason))
    } else this.values.set(attribute, value)
  }

  reject(attribute: StorageAttribute, problem: ProtocolError): void {
    this.problems.push(problem)
    this.broken.push(attribute)
    this.values.delete(attribute)
  }

  refuse(attribute: StorageAttribute): void {
    this.reject(attribute, notPermitted(attribute))
  }

  isBroken(attribute: StorageAttribute): boolean {
    return this.broken.length > 0 && this.broken.includes(attribute)
  }

  setMade(attribute: StorageAttribute): void {
    this.made.push(attribute)
  }

  isMade(attribute: StorageAttribute): boolean {
    return this.made.length > 0 && this.made.includes(attribute)
  }

  mayChange(attribute: Attribute): boolean {
    const { dataClass, view } = this.context
    return view.may(this.old ? 'update' : 'create', dataClass, attribute)
  }

  /** Whether it may be given another value. */
  mayGive(attribute: StorageAttribute): boolean {
    const { dataClass, transaction, view } = this.context
    if (!view.isRestricted || this.isMade(attribute)) return true
    if (this.old && !view.shows(attribute)) return false
    // Whoever may change only one of a relation and its foreign key may change neither: they are one value.
    const relations = transaction.layout(dataClass).references.filter(({ foreignKey }) => foreignKey === attribute)
    return [attribute, ...relations].every(guard => this.mayChange(guard))
  }
}

export const notPermitted = ({ name, dataClass }: Attribute): ProtocolError =>
  PermissionErrors.UPDATE_ATTRIBUTE(name, dataClass.name)

export function sameValue(a: Value, b: Value | undefined): boolean {
  if (a === b) return true
  // Objects; their text is what is stored.
  return (
    typeof a === 'object' &&
    typeof b === 'object' &&
    a !== null &&
    b !== null &&
    JSON.stringify(a) === JSON.stringify(b)
  )
}
