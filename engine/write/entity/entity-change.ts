import type { Attribute, RelatedEntityAttribute, RowAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import { type DataClass, isKeyPart } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import type { View } from '../../catalog/view.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import type { StoredEntity, StoreTransaction } from '../../data/store-transaction.ts'
import type { RowView } from '../../row-format/row-view.ts'
import { AttributeValues } from '../value/attribute-values.ts'
import type { AutomaticSource } from '../value/automatic-value.ts'
import type { LockTable } from './lock-table.ts'
import type { SaveRequest } from '../contract/requests.ts'
import { WriteErrors } from '../contract/write-errors.ts'
import type { SaveRules } from '../value/validate.ts'

/** Context shared by all entities of a request. */
export interface SaveContext extends AutomaticSource {
  readonly locks: Pick<LockTable, 'blocker'>
  /** Handle of the session. */
  readonly owner: string | undefined
  readonly transaction: StoreTransaction
  readonly dataClass: DataClass
  readonly rules: SaveRules
  /** View and rights of the caller. */
  readonly view: View
  readonly mode: SaveRequest['mode']
  readonly trusted: boolean
  readonly anyStamp: boolean
  readonly ifMatch: SaveRequest['ifMatch']
  readonly uploads: SaveRequest['uploads']
  readonly received: SaveRequest['received']
  /** `__TIMESTAMP` for entities that are saved. */
  readonly timestamp: string
  /** Maximum number of problems of an entity that are described. */
  readonly maxProblems: number
  /** To be called when jobs have been enqueued that can run soon. */
  readonly enqueued: () => void
}

/** New values of one entity, and its problems. */
export class EntityChange {
  /** Problems in the order in which they are reported. */
  readonly problems: ProtocolError[] = []
  /** Values that differ from the stored ones. */
  readonly values = new AttributeValues<RowAttribute>()
  /** Relations that were sent. Read last, because their meaning depends on foreign keys in the same element. */
  sentRelations: readonly { readonly relation: RelatedEntityAttribute; readonly key: Value }[] = []
  /** Row ids of related entities, in the order of the layout's references. */
  readonly references: (number | undefined)[]
  readonly row: RowView | undefined
  /** Attributes with a problem that makes further checks pointless. */
  private readonly broken: StorageAttribute[] = []
  /** Attributes that plugin code has set, which need no permission check. */
  private readonly madeAttributes: StorageAttribute[] = []

  /** @param old undefined for a new entity */
  constructor(
    readonly context: SaveContext,
    readonly old: StoredEntity | undefined,
  ) {
    this.row = old?.row
    this.references = []
    if (old) for (let i = 0; i < old.row.layout.references.length; i++) this.references.push(old.row.reference(i))
  }

  /** Value that the entity has without the change; for a new entity the default. */
  storedValue(attribute: StorageAttribute): Value {
    if (!this.row) return attribute.default ?? null
    // `true` for a stored image or blob, which differs from every sent value.
    return (this.row.value(attribute) ?? null) as Value
  }

  /** True if the attribute has this value already. False if the answer would reveal a value that the caller may not read. */
  has(attribute: StorageAttribute, value: Value): boolean {
    const { view } = this.context
    const isSecret = this.old && view.isRestricted && !this.isMade(attribute) && !view.shows(attribute)
    return !isSecret && sameValue(this.storedValue(attribute), value)
  }

  change(attribute: StorageAttribute, value: Value): void {
    if (this.has(attribute, value)) return
    if (!this.mayGive(attribute)) this.refuse(attribute)
    else if (this.old && attribute === attribute.dataClass.key) {
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, 'it is the primary key'))
    } else if (this.old && isKeyPart(attribute)) {
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, 'it is a part of the primary key'))
    } else if (attribute.readOnly && !(this.context.trusted && !attribute.calculation)) {
      const reason = attribute.calculation ? 'it is calculated' : 'it is read-only'
      this.reject(attribute, WriteErrors.NOT_MODIFIABLE(attribute.name, reason))
    } else this.values.set(attribute, value)
  }

  /** True if further problems are only counted: making an error for each costs more than saving the entity. */
  get isFull(): boolean {
    return this.problems.length >= this.context.maxProblems
  }

  /** Number of problems found after {@link isFull}. */
  further = 0

  reject(attribute: StorageAttribute, problem: ProtocolError): void {
    this.break(attribute, this.isNamed(attribute) ? problem : WriteErrors.HIDDEN(attribute.dataClass.name))
  }

  refuse(attribute: StorageAttribute): void {
    this.break(attribute, this.notPermitted(attribute))
  }

  private break(attribute: StorageAttribute, problem: ProtocolError): void {
    this.problems.push(problem)
    this.broken.push(attribute)
    this.values.delete(attribute)
  }

  notPermitted(attribute: Attribute): ProtocolError {
    const { name, dataClass } = attribute
    return this.isNamed(attribute)
      ? PermissionErrors.UPDATE_ATTRIBUTE(name, dataClass.name)
      : PermissionErrors.UPDATE_HIDDEN(dataClass.name)
  }

  /** False if the caller may not know of the attribute. Who may only create entities knows all their attributes. */
  isNamed(attribute: Attribute): boolean {
    const { dataClass, view } = this.context
    return view.shows(attribute) || attribute === dataClass.key || !view.shows(dataClass)
  }

  isBroken(attribute: StorageAttribute): boolean {
    return this.broken.length > 0 && this.broken.includes(attribute)
  }

  /** Sets a value that the server provides, for which the caller needs no rights. */
  fill(attribute: StorageAttribute, value: Value): void {
    this.values.set(attribute, value)
    this.setMade(attribute)
  }

  setMade(attribute: StorageAttribute): void {
    this.madeAttributes.push(attribute)
  }

  isMade(attribute: StorageAttribute): boolean {
    return this.madeAttributes.length > 0 && this.madeAttributes.includes(attribute)
  }

  mayChange(attribute: Attribute): boolean {
    const { dataClass, view } = this.context
    return view.may(this.old ? 'update' : 'create', dataClass, attribute)
  }

  /** True if the caller may change the value. */
  mayGive(attribute: StorageAttribute): boolean {
    const { dataClass, transaction, view } = this.context
    if (!view.isRestricted || this.isMade(attribute)) return true
    if (this.old && !view.shows(attribute)) return false
    // A relation and its foreign key are one value: changing either needs the right to change both.
    const relations = transaction.layout(dataClass).references.filter(({ foreignKey }) => foreignKey === attribute)
    return [attribute, ...relations].every(guard => this.mayChange(guard))
  }
}

export function sameValue(a: Value, b: Value | undefined): boolean {
  if (a === b) return true
  // Objects are compared as JSON, as they are stored.
  return (
    typeof a === 'object' &&
    typeof b === 'object' &&
    a !== null &&
    b !== null &&
    JSON.stringify(a) === JSON.stringify(b)
  )
}
