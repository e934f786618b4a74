import type { Attribute, RelatedEntityAttribute, RowAttribute } from '../catalog/attribute.ts'
import { isBinary, isRelation, isRowAttribute } from '../catalog/attribute.ts'
import type { DataClass, WireOptions } from '../catalog/dataclass.ts'
import { typeSignature } from '../catalog/types/parameters.ts'
import { TYPES } from '../catalog/types/registry.ts'
import type { Value } from '../catalog/value.ts'
import type { ScalarType } from '../catalog/value-type.ts'
import { type SlotEncoder, slotEncoder } from './wire-value.ts'

/**
 * Positions of the attributes of a dataclass in its rows. A row is stored as it is sent:
 *
 * ```
 * u16 layout version
 * u16 number of slots n
 * u32 __STAMP
 * f64 __GlobalStamp
 * u32 row id of the related entity, one for each N→1 relation; 0xffffffff for none
 * u32 offset of each slot in the text, and of the end of the last one (n + 1)
 * text, UTF-8:  "__KEY":"1","__TIMESTAMP":"2026-01-31T10:00:00.000Z","__STAMP":1
 *               ,"ID":1,"name":"Ada","employer":{"__deferred":{…}}      public slots, in the order of the catalog
 *               ,"secret":42                                            private slots
 * ```
 *
 * All numbers are little-endian and may be unaligned. A slot is `,"name":value`; the text before slot 0 is the head. A whole
 * entity is therefore `{` + text up to the first private slot + `}`, and an attribute list is a copy of slots.
 */
export interface RowLayout {
  readonly dataClass: DataClass
  /** Number of this layout in the store; rows of older layouts are rewritten when the model changes. */
  readonly version: number
  /** Public attributes first, then private ones, each in the order of the catalog. Aliases and calculated attributes have no slot. */
  readonly slots: readonly RowAttribute[]
  readonly publicSlotCount: number
  readonly slotOf: ReadonlyMap<Attribute, number>
  readonly encoders: readonly SlotEncoder[]
  /** `,"name":` of each slot. */
  readonly names: readonly string[]
  /** {@link names} as UTF-8. */
  readonly prefixes: readonly Uint8Array[]
  /** N→1 relations in the order of their row ids in the header. */
  readonly references: readonly RelatedEntityAttribute[]
  readonly referenceOf: ReadonlyMap<Attribute, number>
  readonly wire: WireOptions
}

export const FIXED_HEADER_BYTES = 16
export const NO_ROW = 0xffffffff

export const headerBytes = (layout: RowLayout): number =>
  FIXED_HEADER_BYTES + 4 * layout.references.length + 4 * (layout.slots.length + 1)

/** Positions of the parts of a row. */
export function rowBytes(layout: RowLayout): { offsets: number; end: number; text: number } {
  const text = headerBytes(layout)
  return { offsets: FIXED_HEADER_BYTES + 4 * layout.references.length, end: text - 4, text }
}

/** `__KEY` of the entity with this key. */
export const keyText = ({ dataClass, wire }: RowLayout, key: Value): string =>
  TYPES[dataClass.key.type as ScalarType].keyText(key, dataClass.key, wire)

const encoder = new TextEncoder()

export function rowLayout(dataClass: DataClass, version: number, wire: WireOptions): RowLayout {
  const candidates = dataClass.attributes.filter(isRowAttribute)
  const publicSlots = candidates.filter(attribute => attribute.scope === 'public')
  const slots = [...publicSlots, ...candidates.filter(attribute => attribute.scope !== 'public')]
  const references = slots.filter(attribute => attribute.kind === 'relatedEntity')
  const names = slots.map(attribute => `,${JSON.stringify(attribute.name)}:`)
  return {
    dataClass,
    version,
    slots,
    publicSlotCount: publicSlots.length,
    slotOf: new Map(slots.map((attribute, slot) => [attribute, slot])),
    encoders: slots.map(attribute => slotEncoder(attribute, wire)),
    names,
    prefixes: names.map(name => encoder.encode(name)),
    references,
    referenceOf: new Map(references.map((attribute, index) => [attribute, index])),
    wire,
  }
}

const isLink = (attribute: RowAttribute): boolean => isRelation(attribute) || isBinary(attribute.type)

/** Fingerprint of a layout. Layouts with the same fingerprint read rows the same way, byte for byte. */
export function layoutFingerprint(layout: RowLayout): string {
  return JSON.stringify({
    dataClass: layout.dataClass.name,
    key: layout.dataClass.key.name,
    // The base path appears in links only.
    wire: layout.slots.some(isLink) ? layout.wire : { ...layout.wire, basePath: undefined },
    publicSlotCount: layout.publicSlotCount,
    slots: layout.slots.map(attribute => [
      attribute.name,
      attribute.kind,
      attribute.kind === 'storage' ? typeSignature(attribute) : attribute.target.name,
    ]),
  })
}
