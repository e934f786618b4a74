import type { StorageAttribute } from './attribute.ts'
import type { DataClass } from './dataclass.ts'

/** Fingerprints of the code that computed the stored values, by attribute name. */
export type Fingerprints = Readonly<Record<string, string>>

export const storedCalculated = ({ attributes }: DataClass): StorageAttribute[] =>
  attributes.filter(attribute => attribute.kind === 'storage').filter(attribute => attribute.calculation !== undefined)

/** Fingerprints of the code that the model names, by attribute. */
export const fingerprintsOf = (dataClass: DataClass): Record<string, string> =>
  Object.fromEntries(storedCalculated(dataClass).map(({ name, calculation }) => [name, calculation!.fingerprint]))

/** JSON values of the stored calculated attributes of an entity when there is no code for them. */
export const nullValues = (dataClass: DataClass): Record<string, null> =>
  Object.fromEntries(storedCalculated(dataClass).map(({ name }) => [name, null]))

/** True if the stored values were computed by other code than the model names now. */
export const areOutdated = (storedFingerprints: Fingerprints, dataClass: DataClass): boolean =>
  Object.entries(fingerprintsOf(dataClass)).some(
    ([name, fingerprint]) => (storedFingerprints[name] ?? '') !== fingerprint,
  )
