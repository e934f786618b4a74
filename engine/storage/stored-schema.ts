import { buildCatalog } from '../catalog/build-catalog.ts'
import type { Catalog, DataClass, WireOptions } from '../catalog/dataclass.ts'
import type { Model } from '../catalog/model-schema.ts'
import type { TableNumbers } from '../catalog/table-numbers.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { Environment } from './environment.ts'
import { layoutKey, loadLayouts, type StoredLayout } from './layouts.ts'

/** Schema by which the data of a store is read: entries of `meta`. */
export interface StoredSchema {
  model: Model
  numbers: TableNumbers
  wire: WireOptions
  /** Version of the row layout of each dataclass. Separate entries in `meta`, see `layouts.ts`. */
  versions: Record<string, number>
}

export interface Schema {
  catalog: Catalog
  layouts: ReadonlyMap<DataClass, RowLayout>
}

/** Catalog and layouts of an existing store. */
export function loadSchema(environment: Environment): Schema {
  const { model, numbers, wire } = readSchema(environment)
  const catalog = buildCatalog(model, numbers, wire)
  return { catalog, layouts: loadLayouts(environment, catalog, wire) }
}

export function readSchema({ meta }: Environment): StoredSchema {
  const numbers = meta.get('numbers') as TableNumbers
  const versions: Record<string, number> = Object.create(null)
  for (const [name, { tableNumber }] of Object.entries(numbers.dataClasses)) {
    versions[name] = (meta.get(layoutKey(tableNumber)) as StoredLayout).version
  }
  return { model: meta.get('model') as Model, numbers, wire: meta.get('wire') as WireOptions, versions }
}
