import type { Catalog, DataClass, WireOptions } from '../catalog/dataclass.ts'
import type { Environment } from './environment.ts'
import { layoutFingerprint, type RowLayout, rowLayout } from '../row-format/row-layout.ts'

/** Entry in `meta` under {@link layoutKey}: the layout that all rows of a table have. */
export interface StoredLayout {
  version: number
  fingerprint: string
}

export const layoutKey = (tableNumber: number): string => `layout/${tableNumber}`

/**
 * Loads the layouts of the rows in the store. The writer has brought the store to the catalog before any thread reads it.
 * @throws {Error} when the store has another layout of a dataclass, or none
 */
export function loadLayouts(environment: Environment, catalog: Catalog, wire: WireOptions): Map<DataClass, RowLayout> {
  return new Map(
    catalog.dataClasses.map(dataClass => {
      const storedLayout = environment.meta.get(layoutKey(dataClass.tableNumber)) as StoredLayout | undefined
      if (!storedLayout)
        throw new Error(`the store has no rows of ${dataClass.name} yet; it needs to be opened for writing first`)
      const layout = rowLayout(dataClass, storedLayout.version, wire)
      if (layoutFingerprint(layout) !== storedLayout.fingerprint) {
        throw new Error(
          `the rows of ${dataClass.name} were written for another model; the store needs to be opened for writing first`,
        )
      }
      return [dataClass, layout]
    }),
  )
}
