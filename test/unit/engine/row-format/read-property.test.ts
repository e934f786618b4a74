import t from 'tap'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import { columnsOver, heldValue } from '../../../../engine/catalog/property-columns.ts'
import type { Value } from '../../../../engine/catalog/value.ts'
import { propertyReader } from '../../../../engine/row-format/read-property.ts'
import fc from '../../../support/runner/fast-check.ts'
import { modelWith } from '../../../support/fixtures/model-with.ts'

const NAMES = ['a', 'é"\\', '0', '1', '01', 'length', '__proto__', '{[,', '']
const TYPES = ['string', 'long', 'bool'] as const

/** Columns over every property of one or two of these names. */
function columns(): StorageAttribute[] {
  const steps = NAMES.filter(name => name !== '' && !name.includes('['))
  const paths = [...steps, ...steps.flatMap(first => steps.map(second => `${first}.${second}`))]
  return TYPES.flatMap(type => {
    const properties = Object.fromEntries(paths.map(path => [path, { type, indexed: true }]))
    const attributes = { ID: { type: 'long' }, o: { type: 'object', properties } }
    const [thing] = loadModel(modelWith({ Thing: attributes })).dataClasses
    return columnsOver(thing!.attributesByName.get('o') as StorageAttribute)
  })
}

const json = fc.letrec<{ any: unknown }>(tie => ({
  any: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(null, true, false, 0, -1.5, 1e300, 1.2345678901234567e30, '', 'x', 'é"\\\n', ']}",'),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('any')), { maxLength: 4 }).map(members => parsed(members)),
  ),
})).any

/** Object as parsed from a client: `__proto__` is an ordinary property. */
const parsed = (members: readonly (readonly [string, unknown])[]): unknown =>
  JSON.parse(`{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`)

t.test('a property read from the text of an object equals that of the parsed object', async t => {
  const readers = columns().map(column => ({
    column,
    read: propertyReader(column, (bytes, start, end) => JSON.parse(bytes.toString('utf8', start, end)) as string),
  }))
  t.ok(readers.length > 300)
  fc.assert(
    fc.property(json, value => {
      const bytes = Buffer.from(`,"o":${JSON.stringify(value)},"p":1`)
      for (const { column, read } of readers) {
        const held = heldValue(column.source!, value as Value)
        const expected = held === null ? undefined : typeof held === 'boolean' ? Number(held) : held
        if (!Object.is(read(bytes, 5), expected)) {
          throw new Error(`${column.name}: ${read(bytes, 5)} instead of ${expected}`)
        }
      }
    }),
    { numRuns: process.env.TESSER_TEST_LONG ? 20_000 : 500 },
  )
  t.pass('compared')
})
