import type { StorageAttribute } from '../catalog/attribute.ts'
import type { BinaryValue } from '../catalog/value.ts'

export type BinaryAttribute = StorageAttribute & { type: 'image' | 'blob' }

/** An image or a blob in one version of an entity. */
export interface StoredBinary {
  readonly attribute: BinaryAttribute
  readonly value: BinaryValue
  /** `__STAMP` of the entity. */
  readonly stamp: number
  /** Text that no other value of any entity and version has. */
  readonly id: string
  /** Text that is unique to this version of the entity. */
  readonly version: string
  /** Reads bytes that are in a database; resolves to undefined when the value has been replaced. Undefined for bytes in the store. */
  readonly read?: (start: number, end: number) => Promise<Uint8Array | undefined>
}
