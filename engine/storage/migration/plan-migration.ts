import type { Attribute, RelatedEntityAttribute, StorageAttribute } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'
import { indexesOf } from '../../catalog/property-columns.ts'
import { isSameType, typeSignature } from '../../catalog/types/parameters.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import type { StoredSchema } from '../stored-schema.ts'

/** Change of a dataclass that both models have. */
export interface TableChange {
  readonly before: DataClass
  readonly after: DataClass
  readonly oldLayout: RowLayout
  readonly newLayout: RowLayout
  /** Storage attributes of the new dataclass whose values come from the old one. */
  readonly keptPairs: readonly { before: StorageAttribute; after: StorageAttribute }[]
  /** New storage attributes whose default is given to existing entities. */
  readonly filled: readonly StorageAttribute[]
  readonly removedAttributes: readonly StorageAttribute[]
  /** Relations whose row ids have to be found. */
  readonly newRelations: readonly RelatedEntityAttribute[]
  /** Positions whose index entries are removed. */
  readonly dropIndexes: readonly number[]
  readonly buildIndexes: readonly StorageAttribute[]
}

export interface MigrationPlan {
  readonly removedClasses: readonly DataClass[]
  readonly changes: readonly TableChange[]
}

/** Steps that bring a store to another model. */
export interface PlannedChange {
  target: StoredSchema
  plan: MigrationPlan
  /** Dataclasses that the store does not have yet. */
  addedClasses: readonly DataClass[]
}

interface Side {
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
}

/** Plans the changes that make the data fit another model. Compares models only, reads no data. */
export function planMigration(old: Side, target: Side): MigrationPlan {
  const numbers = new Set(target.catalog.dataClasses.map(({ tableNumber }) => tableNumber))
  const removedClasses = old.catalog.dataClasses.filter(({ tableNumber }) => !numbers.has(tableNumber))
  const changes: TableChange[] = []
  for (const after of target.catalog.dataClasses) {
    const before = old.catalog.dataClasses.find(({ tableNumber }) => tableNumber === after.tableNumber)
    if (before) changes.push(compare(before, after, old.layouts.get(before)!, target.layouts.get(after)!))
  }
  return { removedClasses, changes }
}

function compare(before: DataClass, after: DataClass, oldLayout: RowLayout, newLayout: RowLayout): TableChange {
  const [old, next] = [withIndexes(before), withIndexes(after)]
  const successor = (attribute: Attribute) => next.get(attribute.position)
  const predecessor = (attribute: Attribute) => old.get(attribute.position)
  const isNew = (attribute: Attribute): boolean => indexOf(predecessor(attribute)) !== indexOf(attribute)

  const oldStorage = before.attributes.filter(attribute => attribute.kind === 'storage')
  const newRelations = after.attributes.filter(attribute => attribute.kind === 'relatedEntity').filter(isNew)
  // A foreign key without a target becomes null if that is accepted, so foreign keys are indexed again as well.
  const foreignKeys = new Set(newRelations.map(relation => relation.foreignKey))
  const indexes = indexesOf(after)
  const buildIndexes = indexes.filter(
    attribute => isNew(attribute) || membersOf(attribute).some(each => foreignKeys.has(each)),
  )
  const removedIndexes = [...old.values()].filter(
    attribute => indexOf(attribute) && indexOf(successor(attribute)) !== indexOf(attribute),
  )
  const keptPairs = oldStorage.flatMap(attribute => {
    const next = successor(attribute)
    return next?.kind === 'storage' && isKept(attribute, next) ? [{ before: attribute, after: next }] : []
  })
  return {
    before,
    after,
    oldLayout,
    newLayout,
    keptPairs,
    filled: after.attributes.filter(
      (each): each is StorageAttribute =>
        each.kind === 'storage' && each.default !== undefined && !keptPairs.some(pair => pair.after === each),
    ),
    // Calculated values can be calculated again.
    removedAttributes: oldStorage.filter(attribute => {
      const next = successor(attribute)
      return !attribute.calculation && (next?.kind !== 'storage' || next.calculation !== undefined)
    }),
    newRelations,
    // Indexes to be built are cleared first: an interrupted migration may have begun with them.
    dropIndexes: [...removedIndexes, ...buildIndexes].map(attribute => attribute.position),
    buildIndexes,
  }
}

/**
 * True if an attribute keeps its values. When an attribute becomes calculated or ceases to be, its values are kept if the type stays the
 * same: rows are not rewritten, and indexes stay. Calculated values are not converted: if their type changes, code computes them again.
 */
const isKept = (before: StorageAttribute, after: StorageAttribute): boolean =>
  isSameType(before, after) || !(before.calculation || after.calculation)

/** Attributes and indexes over properties by position, which an attribute keeps when it is renamed. */
const withIndexes = (dataClass: DataClass): ReadonlyMap<number, Attribute> =>
  new Map([...dataClass.attributes, ...indexesOf(dataClass)].map(attribute => [attribute.position, attribute]))

/** The attributes whose values decide the entries of an index. */
const membersOf = (attribute: StorageAttribute): readonly StorageAttribute[] => attribute.together ?? [attribute]

/** Describes the contents of an attribute's index; undefined when there is none. Equal descriptions mean equal entries. */
function indexOf(attribute: Attribute | undefined): string | undefined {
  if (attribute?.kind === 'relatedEntity') {
    const { target, foreignKey } = attribute
    return `rows of ${target.tableNumber} by ${foreignKey.position} (${foreignKey.type})`
  }
  if (attribute?.kind !== 'storage' || !attribute.indexed) return undefined
  return membersOf(attribute)
    .map(each => [each.position, ...typeSignature(each)].join(' '))
    .join(', ')
}
