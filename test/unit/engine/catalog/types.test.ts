import t from 'tap'
import { rowReader } from '../../../../engine/author/data-api/values.ts'
import { fold } from '../../../../engine/base/text/fold.ts'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { Mismatch } from '../../../../engine/catalog/types/descriptor.ts'
import { TYPES } from '../../../../engine/catalog/types/registry.ts'
import type { Value } from '../../../../engine/catalog/value.ts'
import { isScalarType, SCALAR_TYPES, STORAGE_TYPES, type StorageType } from '../../../../engine/catalog/value-type.ts'
import { indexPrefix } from '../../../../engine/storage/keys.ts'
import { runQuery } from '../../../support/engine/run-query.ts'
import { openMemoryWorld } from '../../../support/engine/shared-memory.ts'

/** Values of each type as a save may send them, scalars in ascending order. */
const SAMPLES: Record<StorageType, readonly unknown[]> = {
  bool: [false, true],
  byte: [-128, -1, 0, '5', 127],
  word: [-32_768, 0, 32_767],
  long: [-2_147_483_648, -1, 0, 2_147_483_647],
  long64: ['-9223372036854775808', -9_007_199_254_740_993n, -1, 0, 1, '9007199254740993', '9223372036854775807'],
  number: [-1e300, -0.5, 0, 1e-7, 0.1, 12, 1e21],
  float: [-2, 0.25, '1e3'],
  decimal: [
    '-9999999999999999.99',
    -1.5,
    '-0.01',
    0,
    1e-2,
    '.1',
    '90071992547409.93',
    '9007199254740993',
    '9999999999999999.99',
  ],
  date: ['0099-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '2020-01-31T15:23:00Z', '+012345-01-01T00:00:00Z'],
  duration: ['-00:01', 0, '08:30:00', 1e12],
  string: ['', 'a"b\\c\n', 'Zoë', '𝄞'],
  uuid: ['00000000000000000000000000000001', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  object: [{ a: [1, null, 'x'] }, []],
  vector: [[0.1, -2]],
  image: ['data:image/png;base64,AAAA'],
  blob: ['data:,abc'],
}

for (const type of STORAGE_TYPES) {
  t.test(`${type}: a value is the same in rows, in keys of indexes and in filters`, async t => {
    const attribute = attributeOf(type)
    const wire = { dateOnlyFormat: 'iso' } as const
    const { convert, encode, decode, holds } = TYPES[type]
    const values = SAMPLES[type].map(json => convert(json, attribute, true))
    for (const value of values) {
      if (value instanceof Mismatch) return t.fail(value.expected)
      const decoded = decode(encode(value, attribute, wire), attribute, wire)
      if (type !== 'image' && type !== 'blob') t.strictSame(decoded, value)
      t.ok(holds(decoded, attribute))
    }
    if (!isScalarType(type)) return
    const { readOperand, keyText, comparison } = TYPES[type]
    const keys = values.map(value => indexPrefix(attribute, value as string))
    for (let i = 1; i < keys.length; i++) t.ok(keys[i - 1]!.compare(keys[i]!) < 0, `${values[i - 1]} < ${values[i]}`)
    for (const value of values) {
      const operand = readOperand(keyText(value as string, attribute, wire), attribute, false)
      t.equal(operand, comparison === 'text' ? fold(value as string) : type === 'bool' ? Number(value) : value)
    }
  })
}

t.test(
  'values that are nested too deeply, or numbers that JSON cannot express, are refused before anything recurses into them',
  async t => {
    const attribute = attributeOf('object')
    let deep: unknown = 1
    for (let i = 0; i < 200_000; i++) deep = { deep }
    for (const json of [deep, [deep], { a: [1, -Infinity] }, Object('1.2345678901234567890'), 7, 'text']) {
      t.ok(TYPES.object.convert(json, attribute, false) instanceof Mismatch)
    }
  },
)

t.test('plugin code reads values of every type as its descriptor converts them', async t => {
  const types = STORAGE_TYPES.filter(type => type !== 'image' && type !== 'blob')
  const world = openMemoryWorld(t, modelOf(types))
  for (const type of types) {
    const values = valuesOf(type)
    world.commit(rows => [...values, null].forEach((x, ID) => void rows.insert(type, { ID, x })))
    const attribute = world.rows.attribute(type, 'x')
    const read = rowReader(attribute, world.rows.layouts.get(attribute.dataClass)!)
    world.rows.open().read(snapshot => {
      const table = snapshot.table(attribute.dataClass)
      for (const [rowId, value] of values.entries())
        t.strictSame(read(table.row(rowId)!), TYPES[type].toCode(value, attribute), `${type}: ${value}`)
      t.equal(read(table.row(values.length)!), null, type)
    })
  }
})

t.test('filters and orders find the values of every scalar type in columns, indexes and shared memory', async t => {
  const world = openMemoryWorld(t, modelOf(SCALAR_TYPES, { indexed: { indexed: true }, x: {} }))
  world.commit(rows => {
    for (const type of SCALAR_TYPES) {
      // In reverse order of the values: otherwise rows would be in order without being sorted.
      const entities = valuesOf(type).map((x, ID) => ({ ID, x, indexed: x }))
      for (const entity of entities.reverse()) rows.insert(type, entity)
    }
  })
  world.fill()
  for (const [where, store] of Object.entries({ store: world.rows.open(), memory: world.reader(0) })) {
    store.read(snapshot => {
      for (const type of SCALAR_TYPES) {
        const values = valuesOf(type)
        for (const name of ['x', 'indexed']) {
          const find = (filter: string | undefined, params: unknown, orderBy = 'ID') => {
            const query = { dataClass: type, orderBy, ...(filter && { filter, params }) }
            const { rowIds } = runQuery(world.rows.catalog, snapshot, query)
            return [...rowIds].map(rowId => values.length - 1 - rowId)
          }
          const all = [...values.keys()]
          const attribute = world.rows.attribute(type, name)
          t.strictSame(find(undefined, [], name), all, `${where}: ${type} ordered by ${name}`)
          for (const [i, value] of values.entries()) {
            const key = TYPES[type].keyText(value, attribute, { dateOnlyFormat: 'iso' })
            t.strictSame(find(`${name} = :1`, [key]), [i], `${where}: ${type} ${name} = ${key}`)
            t.strictSame(find(`${name} > :1`, [key]), all.slice(i + 1), `${where}: ${type} ${name} > ${key}`)
          }
        }
      }
    })
  }
})

function attributeOf(type: StorageType): StorageAttribute {
  return loadModel(modelOf([type])).dataClasses[0]!.attributesByName.get('x') as StorageAttribute
}

/** A dataclass for each type, named for it, with attributes of that type. */
function modelOf(types: readonly StorageType[], attributes: Readonly<Record<string, object>> = { x: {} }): object {
  const classOf = (type: StorageType) => {
    const needed = { type, ...(type === 'vector' && { dimension: 2 }), ...(type === 'decimal' && { scale: 2 }) }
    const own = Object.entries(attributes).map(([name, options]) => [name, { ...needed, ...options }])
    return { key: 'ID', attributes: { ID: { type: 'long' }, ...Object.fromEntries(own) } }
  }
  return { name: 'm', dataClasses: Object.fromEntries(types.map(type => [type, classOf(type)])) }
}

function valuesOf(type: StorageType): readonly Value[] {
  const attribute = attributeOf(type)
  return SAMPLES[type].map(json => TYPES[type].convert(json, attribute, true) as Value)
}
