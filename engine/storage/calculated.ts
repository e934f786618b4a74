import type { StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Environment } from './environment.ts'

/** Where `meta` has the fingerprints of the code that a table's stored calculated values come from, by attribute name. */
export const fingerprintsKey = (tableNumber: number): string => `calculated/${tableNumber}`

export const storedCalculated = ({ attributes }: DataClass): StorageAttribute[] =>
  attributes.filter(attribute => attribute.kind === 'storage').filter(attribute => attribute.calculation !== undefined)

/** Fingerprints of the code that the model names, by attribute. */
export const fingerprintsOf = (dataClass: DataClass): Record<string, string> =>
  Object.fromEntries(storedCalculated(dataClass).map(({ name, calculation }) => [name, calculation!.fingerprint]))

/** The stored calculated attributes of an entity without code for them, as JSON. */
export const nullValues = (dataClass: DataClass): Record<string, null> =>
  Object.fromEntries(storedCalculated(dataClass).map(({ name }) => [name, null]))

/** Forgets the fingerprints of attributes that lose their values in a change of the model. */
export function keepFingerprints({ meta }: Environment, dataClass: DataClass, kept: ReadonlySet<string>): void {
  const key = fingerprintsKey(dataClass.tableNumber)
  const stored = meta.get(key) as Record<string, string> | undefined
  if (stored) meta.putSync(key, Object.fromEntries(Object.entries(stored).filter(([name]) => kept.has(name))))
}

/** Whether the stored values come from other code than the model names now. */
export function areOutdated({ meta }: Environment, dataClass: DataClass): boolean {
  const stored = (meta.get(fingerprintsKey(dataClass.tableNumber)) ?? {}) as Record<string, string>
  return Object.entries(fingerprintsOf(dataClass)).some(([name, fingerprint]) => (stored[name] ?? '') !== fingerprint)
}
