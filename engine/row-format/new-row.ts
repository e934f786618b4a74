import type { Value } from '../catalog/value.ts'
import { TYPES } from '../catalog/types/registry.ts'
import { headText, writeHeader } from './encode-row.ts'
import { FIXED_HEADER_BYTES, headerBytes, keyText, NO_ROW, type RowLayout, rowBytes } from './row-layout.ts'

/**
 * Rows of new entities that are encoded before their places in the store are known: related rows, time and automatic key are
 * placeholders of the same length, which {@link completeRow} replaces in place.
 */

/** Time of an entity that is not saved yet. */
export const ANY_TIME = '2000-01-01T00:00:00.000Z'

/** Content that all rows of new entities have in common. */
export const NEW_ROW = { stamp: 1, globalStamp: 0, timestamp: ANY_TIME, references: [] } as const

/** The bytes before the slots of the row of a new entity, before and after its key, which is between quotes. Offsets are zero. */
export function newRowStart(layout: RowLayout): { beforeKey: Uint8Array; afterKey: Uint8Array } {
  const header = Buffer.alloc(headerBytes(layout))
  writeHeader(header, layout, NEW_ROW)
  const head = Buffer.from(headText('', NEW_ROW))
  return { beforeKey: Buffer.concat([header, head.subarray(0, KEY_START)]), afterKey: head.subarray(KEY_START) }
}

/** Position of the digits of the key in a slot: their distance from its start, in bytes. */
interface KeySpot {
  readonly slot: number
  readonly distance: number
}

const KEY_START = '"__KEY":"'.length
/** Distance of the time from the end of the head of a new entity. */
const TIME_TO_END = `${ANY_TIME}","__STAMP":1`.length

const spotsByLayout = new WeakMap<RowLayout, readonly KeySpot[] | undefined>()

/** True if the key of a row can be replaced in place by a number with as many digits. */
export const hasKeySpots = (layout: RowLayout): boolean => keySpots(layout) !== undefined

function keySpots(layout: RowLayout): readonly KeySpot[] | undefined {
  if (!spotsByLayout.has(layout)) spotsByLayout.set(layout, findKeySpots(layout))
  return spotsByLayout.get(layout)
}

/** Compares the slots of an entity with key 1 with those of one with key 2. */
function findKeySpots(layout: RowLayout): readonly KeySpot[] | undefined {
  const { slots, dataClass } = layout
  const keys = [1, 2].map(number => TYPES[dataClass.key.type].convert(number, dataClass.key, false) as Value)
  if (keys.some((key, i) => keyText(layout, key) !== `${i + 1}`)) return undefined
  const spots: KeySpot[] = []
  for (const [slot, attribute] of slots.entries()) {
    const [one, two] = keys.map((key, i) => {
      const value = attribute === dataClass.key ? key : null
      return layout.names[slot]! + layout.encoders[slot]!(value, { key: `${i + 1}`, stamp: 1 })
    }) as [string, string]
    const places = Array.from({ length: one.length }, (_, i) => i).filter(i => one[i] !== two[i])
    if (one.length !== two.length || places.length > 1) return undefined
    for (const place of places) spots.push({ slot, distance: Buffer.byteLength(one.slice(0, place)) })
  }
  return spots
}

interface Completion {
  /** ISO 8601 with milliseconds. */
  readonly timestamp: string
  /** Row ids of related entities, in the order of `layout.references`. */
  readonly references: readonly (number | undefined)[]
  /** Automatic key; undefined if the row already has its key. */
  readonly key: string | undefined
  /** Number of digits of the placeholder of an automatic key. */
  readonly digits: number
}

/** Replaces the global stamp of a row. */
export const writeRowStamp = (row: Buffer, globalStamp: number): number => row.writeDoubleLE(globalStamp, 8)

/**
 * Replaces all other placeholders of a row.
 * @returns the row, in other memory if its key has another length than expected
 */
export function completeRow(layout: RowLayout, encodedRow: Buffer, completion: Completion): Buffer {
  const { timestamp, references, key, digits } = completion
  const row =
    key === undefined || key.length === digits ? encodedRow : withRoom(layout, encodedRow, key.length - digits, digits)
  for (let i = 0; i < references.length; i++) row.writeUInt32LE(references[i] ?? NO_ROW, FIXED_HEADER_BYTES + 4 * i)
  const { offsets, text } = rowBytes(layout)
  const slotStart = (slot: number): number => text + row.readUInt32LE(offsets + 4 * slot)
  row.write(timestamp, slotStart(0) - TIME_TO_END, 'latin1')
  if (key === undefined) return row
  row.write(key, text + KEY_START, 'latin1')
  for (const { slot, distance } of keySpots(layout)!) row.write(key, slotStart(slot) + distance, 'latin1')
  return row
}

/** Copies a row with `more` additional bytes, or fewer bytes if negative, at each place of its automatic key. */
function withRoom(layout: RowLayout, row: Buffer, more: number, digits: number): Buffer {
  const { offsets, text } = rowBytes(layout)
  const spots = keySpots(layout)!
  const slotStart = (slot: number): number => text + row.readUInt32LE(offsets + 4 * slot)
  const ends = [text + KEY_START, ...spots.map(({ slot, distance }) => slotStart(slot) + distance)].map(
    at => at + digits,
  )
  const copy = Buffer.alloc(row.length + more * ends.length)
  let from = 0
  for (const [i, end] of ends.entries()) {
    row.copy(copy, from + more * i, from, Math.min(end, end + more))
    from = end
  }
  row.copy(copy, from + more * ends.length, from)
  for (let slot = 0; slot <= layout.slots.length; slot++) {
    // The key in the head is before all slots.
    const before = 1 + spots.filter(spot => spot.slot < slot).length
    copy.writeUInt32LE(row.readUInt32LE(offsets + 4 * slot) + more * before, offsets + 4 * slot)
  }
  return copy
}
