import type { Attribute, RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { Catalog, DataClass } from '../catalog/dataclass.ts'
import { indexesOf } from '../catalog/property-columns.ts'
import type { RowLayout } from '../storage/row-layout.ts'

/** What becomes of one dataclass that stays. */
export interface TableChange {
  readonly before: DataClass
  readonly after: DataClass
  readonly oldLayout: RowLayout
  readonly newLayout: RowLayout
  /** Storage attributes of the new dataclass whose values come from the old one. */
  readonly kept: readonly { before: StorageAttribute; after: StorageAttribute }[]
  readonly removed: readonly StorageAttribute[]
  /** Relations whose row ids have to be found. */
  readonly newRelations: readonly RelatedEntityAttribute[]
  /** Positions whose index entries go. */
  readonly dropIndexes: readonly number[]
  readonly buildIndexes: readonly StorageAttribute[]
}

export interface MigrationPlan {
  readonly removed: readonly DataClass[]
  readonly changed: readonly TableChange[]
}

interface Side {
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
}

/** What has to be done to the data so that it fits another model. Compares models only, looks at no data. */
export function planMigration(old: Side, target: Side): MigrationPlan {
  const removed = old.catalog.dataClasses.filter(({ name }) => !target.catalog.dataClassesByName.has(name))
  const changed: TableChange[] = []
  for (const after of target.catalog.dataClasses) {
    const before = old.catalog.dataClassesByName.get(after.name)
    if (before) changed.push(compare(before, after, old.layouts.get(before)!, target.layouts.get(after)!))
  }
  return { removed, changed }
}

function compare(before: DataClass, after: DataClass, oldLayout: RowLayout, newLayout: RowLayout): TableChange {
  const [old, next] = [withIndexes(before), withIndexes(after)]
  const successor = (attribute: Attribute) => next.get(attribute.name)
  const predecessor = (attribute: Attribute) => old.get(attribute.name)
  const isNew = (attribute: Attribute): boolean => indexOf(predecessor(attribute)) !== indexOf(attribute)

  const oldStorage = before.attributes.filter(attribute => attribute.kind === 'storage')
  const newRelations = after.attributes.filter(attribute => attribute.kind === 'relatedEntity').filter(isNew)
  // A reference that leads nowhere becomes null when that is accepted, so foreign keys are indexed anew as well.
  const foreignKeys = new Set(newRelations.map(relation => relation.foreignKey))
  const indexed = indexesOf(after)
  const buildIndexes = indexed.filter(attribute => isNew(attribute) || foreignKeys.has(attribute))
  const gone = [...old.values()].filter(
    attribute => indexOf(attribute) && indexOf(successor(attribute)) !== indexOf(attribute),
  )
  return {
    before,
    after,
    oldLayout,
    newLayout,
    kept: oldStorage.flatMap(attribute => {
      const next = successor(attribute)
      return next?.kind === 'storage' && isKept(attribute, next) ? [{ before: attribute, after: next }] : []
    }),
    // What was calculated can be calculated again.
    removed: oldStorage.filter(attribute => {
      const next = successor(attribute)
      return !attribute.calculation && (next?.kind !== 'storage' || next.calculation !== undefined)
    }),
    newRelations,
    // What is built is cleared first: an interrupted migration may have begun with it.
    dropIndexes: [...gone, ...buildIndexes].map(attribute => attribute.position),
    buildIndexes,
  }
}

/** Calculated values are not converted: code makes those of another type anew. */
function isKept(before: StorageAttribute, after: StorageAttribute): boolean {
  if (!before.calculation && !after.calculation) return true
  const isCalculated = before.calculation !== undefined && after.calculation !== undefined
  return isCalculated && before.type === after.type && before.simpleDate === after.simpleDate
}

/** By name, with the indexes over properties. */
const withIndexes = (dataClass: DataClass): ReadonlyMap<string, Attribute> =>
  new Map([...dataClass.attributes, ...indexesOf(dataClass)].map(attribute => [attribute.name, attribute]))

/** Names what the index of an attribute holds; undefined when there is none. Equal names, equal entries. */
function indexOf(attribute: Attribute | undefined): string | undefined {
  if (attribute?.kind === 'relatedEntity') {
    const { target, foreignKey } = attribute
    return `rows of ${target.name} by ${foreignKey.name} (${foreignKey.type})`
  }
  if (attribute?.kind !== 'storage' || !attribute.indexed) return undefined
  return `${attribute.type} ${attribute.simpleDate}`
}
