import type { Fingerprints } from '../catalog/calculated.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Environment } from './environment.ts'

const keyOf = (tableNumber: number): string => `calculated/${tableNumber}`

/** Fingerprints of the code that a table's stored calculated values come from: an entry of `meta`. */
export const readFingerprints = ({ meta }: Environment, tableNumber: number): Fingerprints =>
  (meta.get(keyOf(tableNumber)) ?? {}) as Fingerprints

export function writeFingerprints({ meta }: Environment, tableNumber: number, fingerprints: Fingerprints): void {
  meta.putSync(keyOf(tableNumber), fingerprints)
}

/** Removes the fingerprints of attributes that lose their values in a change of the model. */
export function keepFingerprints(
  environment: Environment,
  { tableNumber }: DataClass,
  keptNames: ReadonlySet<string>,
): void {
  const entries = Object.entries(readFingerprints(environment, tableNumber))
  if (entries.length > 0) {
    writeFingerprints(environment, tableNumber, Object.fromEntries(entries.filter(([name]) => keptNames.has(name))))
  }
}
