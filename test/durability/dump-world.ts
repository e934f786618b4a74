import { createHash } from 'node:crypto'
import { TYPES } from '../../engine/catalog/types/registry.ts'
import { BinaryValue, type Value } from '../../engine/catalog/value.ts'
import { decodeBinary } from '../../engine/files/encode-binary.ts'
import { RowView } from '../../engine/row-format/row-view.ts'
import { openEnvironment } from '../../engine/storage/environment.ts'
import { readFingerprints } from '../../engine/storage/fingerprints.ts'
import { checkStore } from '../../engine/storage/inspect/check-store.ts'
import { binaryKey } from '../../engine/storage/keys.ts'
import { readGlobalStamp, readTableState } from '../../engine/storage/store-state.ts'
import { loadSchema, readSchema } from '../../engine/storage/stored-schema.ts'
import { tableRows } from '../../engine/storage/table-rows.ts'
import type { Random } from '../support/base/random.ts'
import type { TestStore } from '../support/engine/test-store.ts'

export const MAP = { mapSizeBytes: 2 ** 30 }

/** Attributes of every type and relations of every kind, some in circles, with keys of several types. */
export const model = {
  name: 'dump-test',
  dataClasses: {
    Thing: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        text: { type: 'string', indexed: true },
        code: { type: 'string', unique: true },
        short: { type: 'string', maxLength: 3 },
        secret: { type: 'string', scope: 'private' },
        fixed: { type: 'string', readOnly: true },
        flag: { type: 'bool', indexed: true },
        byte: { type: 'byte' },
        word: { type: 'word' },
        big: { type: 'long64', indexed: true },
        number: { type: 'number', indexed: true },
        float: { type: 'float' },
        exact: { type: 'decimal', scale: 3, indexed: true },
        exactText: { type: 'decimal', scale: 2, asText: true },
        moment: { type: 'date', indexed: true },
        day: { type: 'date', simpleDate: true, indexed: true },
        time: { type: 'duration' },
        uuid: { type: 'uuid' },
        object: { type: 'object', properties: { size: { type: 'number', indexed: true } } },
        vector: { type: 'vector', dimension: 3 },
        photo: { type: 'image' },
        paper: { type: 'blob' },
        score: { kind: 'calculated', type: 'number', stored: true, indexed: true },
        label: { kind: 'alias', path: 'text' },
        otherID: { type: 'long' },
        other: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'otherID', inverseName: 'others' },
        others: { kind: 'relatedEntities', type: 'ThingSelection', inverseName: 'other' },
        ownerID: { type: 'uuid' },
        owner: { kind: 'relatedEntity', type: 'Owner', foreignKey: 'ownerID', inverseName: 'things' },
        placeName: { type: 'string' },
        place: { kind: 'relatedEntity', type: 'Place', foreignKey: 'placeName', onDelete: 'setNull' },
      },
    },
    Owner: {
      key: 'ID',
      attributes: {
        ID: { type: 'uuid', autoFill: 'uuid' },
        name: { type: 'string', mandatory: true },
        favouriteID: { type: 'long' },
        favourite: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'favouriteID', onDelete: 'setNull' },
        things: { kind: 'relatedEntities', type: 'ThingSelection', inverseName: 'owner' },
      },
    },
    Place: { key: 'name', attributes: { name: { type: 'string' }, founded: { type: 'date', simpleDate: true } } },
    /** A key of another integer type, and a name that differs from another one only by case. */
    place: {
      key: 'number',
      collectionName: 'SmallPlaces',
      attributes: {
        number: { type: 'decimal', scale: 1 },
        nextID: { type: 'decimal', scale: 1 },
        next: { kind: 'relatedEntity', type: 'place', foreignKey: 'nextID' },
      },
    },
    Empty: { key: 'day', attributes: { day: { type: 'date' }, count: { type: 'word', autoFill: 'increment' } } },
  },
}

const CLASSES = ['Thing', 'Thing', 'Thing', 'Owner', 'Place', 'place'] as const

/** Saves and deletes entities at random. Some saves fail, because they refer to what does not exist, or repeat a unique value. */
export function writeSome(store: TestStore, random: Random, count: number): void {
  for (let i = 0; i < count; i++) {
    const name = random.pick(CLASSES)
    if (random.chance(0.05)) store.delete(name, [random.integer(0, 40), random.integer(0, 40)])
    else store.save(name, randomBody(random, name), { trusted: true, anyStamp: true })
  }
}

const TEXTS = ['', 'plain', 'Ä "quoted"\n\\', 'ж語🌍', '\u2028\u0000', '\ud800 alone', 'x'.repeat(1500), ' 1 ']

function randomBody(random: Random, name: (typeof CLASSES)[number]): string {
  const isLinked = random.chance(0.5)
  const link = <T>(key: T): T | null => (isLinked && random.chance(0.6) ? key : null)
  const id = random.integer(1, 40)
  const uuid = id.toString(16).toUpperCase().padStart(32, '0')
  const body = (members: object): string => JSON.stringify(members)
  switch (name) {
    case 'Owner':
      return body({
        ...(random.chance(0.4) ? { __KEY: uuid } : { ID: uuid }),
        name: 'o',
        favourite: link(random.integer(1, 15)),
      })
    case 'Place':
      return body({ name: random.pick(['Köln', 'Bonn', `P${id}`]), founded: maybe(random, '-000044-03-15') })
    case 'place':
      return body({ number: id / 2, next: link(random.integer(1, 40) / 2) })
    case 'Thing': {
      const digits = maybe(
        random,
        random.pick(['9223372036854775807', '-9223372036854775808', '9007199254740993', '5']),
      )
      const blob = random.pick([0, 1, 5, 70_000, 600_000])
      const values = {
        ...(random.chance(0.4) && { __KEY: id }),
        text: random.pick(TEXTS),
        code: maybe(random, `c${random.integer(1, 500)}`),
        secret: maybe(random, random.pick(TEXTS)),
        fixed: random.pick(TEXTS),
        flag: random.pick([true, false, null]),
        byte: random.integer(-128, 127),
        word: maybe(random, -32_768),
        number: random.pick([0, -0, 1e300, 5e-324, 0.1, -1.5, null]),
        float: random.pick([null, 1 / 3]),
        exact: random.pick([null, 1.125, -0.001, '999999999999999.999']),
        exactText: maybe(random, '-12.3'),
        moment: maybe(random, random.pick(['2024-02-29T12:30:00.001Z', '1582-10-15T00:00:00Z'])),
        day: maybe(random, random.pick(['2024-02-29', '0001-01-01'])),
        time: random.pick([null, 0, -3_600_000, 1.5]),
        uuid: maybe(random, '0123456789abcdef0123456789abcdef'),
        object: random.pick([null, {}, [1, [2.5, null]], { size: id, b: { 'ü"': '\n' }, 2: 1 }, { size: 'text' }]),
        vector: random.pick([null, [0.1, -1, 3e8], [0, 0, 0]]),
        photo: maybe(random, dataUrl('image/png', Buffer.alloc(random.integer(1, 3), id))),
        paper: maybe(random, dataUrl('text/plain', Buffer.alloc(blob, id % 3))),
        other: link(random.integer(1, 15)),
        owner: link(random.integer(1, 15).toString(16).padStart(32, '0')),
        placeName: link(random.pick(['köln', 'BONN'])),
      }
      return `${body(values).slice(0, -1)},"big":${digits}}`
    }
  }
}

const maybe = <T>(random: Random, value: T): T | null => (random.chance(0.7) ? value : null)
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`

/**
 * Everything of a store that a dump has, as texts: entities by dataclass and key with the keys of related entities, images and blobs
 * by digest, counters, model; and the problems that a check finds.
 */
export async function contentOf(path: string): Promise<Map<string, string>> {
  const environment = openEnvironment({ path, ...MAP })
  try {
    environment.root.resetReadTxn()
    const { catalog, layouts } = loadSchema(environment)
    const { model, numbers } = readSchema(environment)
    const content = new Map([['model', JSON.stringify(model)]])
    content.set('numbers', JSON.stringify(numbers))
    content.set('stamp', String(readGlobalStamp(environment)))
    content.set('problems', JSON.stringify([...checkStore(environment, catalog, layouts)]))
    for (const dataClass of catalog.dataClasses) {
      const { name, tableNumber } = dataClass
      const layout = layouts.get(dataClass)!
      const rowOf = (of: typeof dataClass, rowId: number): RowView | undefined => {
        const [found] = [...tableRows(environment, of.tableNumber, rowId, 1)]
        return found && new RowView(layouts.get(of)!, found.bytes)
      }
      const { rowCount, nextAutoIncrement } = readTableState(environment, tableNumber)
      content.set(
        name,
        `${rowCount} ${nextAutoIncrement} ${JSON.stringify(readFingerprints(environment, tableNumber))}`,
      )
      for (const { rowId, bytes } of tableRows(environment, tableNumber)) {
        const row = new RowView(layout, bytes)
        const text = row.buffer.toString('utf8', row.headStart)
        const related = layout.references.map(({ target }, i) => {
          const reference = row.reference(i)
          return reference === undefined ? null : rowOf(target, reference)?.key
        })
        const binaries = dataClass.attributes.flatMap(attribute => {
          const stored = environment.binaries.get(binaryKey(tableNumber, rowId, attribute.position))
          const value = stored && decodeBinary(stored, environment.files)
          return value instanceof BinaryValue ? [`${attribute.name} ${describeBytes(value)}`] : []
        })
        content.set(`${name} ${row.key}`, JSON.stringify([row.globalStamp, text, related, binaries]))
      }
    }
    return content
  } finally {
    await environment.close()
  }
}

/** Values of all entities by dataclass and key, in the form that plugin code sees, whatever the form of the store is. */
export async function valuesOf(path: string): Promise<Record<string, unknown>> {
  const environment = openEnvironment({ path, ...MAP })
  try {
    const { layouts } = loadSchema(environment)
    const entities = [...layouts].flatMap(([{ name, tableNumber, attributes }, layout]) =>
      [...tableRows(environment, tableNumber)].map(({ rowId, bytes }) => {
        const row = new RowView(layout, bytes)
        const values = attributes.flatMap(attribute => {
          if (attribute.kind !== 'storage') return []
          const stored = environment.binaries.get(binaryKey(tableNumber, rowId, attribute.position))
          const value = row.value(attribute)
          if (value === null) return [[attribute.name, null]]
          if (value === true && stored)
            return [[attribute.name, describeBytes(decodeBinary(stored, environment.files)!)]]
          const inCode = TYPES[attribute.type].toCode(value as Value, attribute)
          return [[attribute.name, typeof inCode === 'bigint' ? String(inCode) : inCode]]
        })
        const { stamp, globalStamp, timestamp } = row
        return [`${name} ${row.key}`, { stamp, globalStamp, timestamp, ...Object.fromEntries(values) }]
      }),
    )
    return Object.fromEntries(entities)
  } finally {
    await environment.close()
  }
}

const describeBytes = ({ mediaType, content }: BinaryValue): string => {
  const bytes = content instanceof Uint8Array ? content : content.read()
  return `${mediaType} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`
}
