/** `plugins/docs/pages/guide/model.md` against the schema and the loader of models. */
import { readFileSync } from 'node:fs'
import { inspect, isDeepStrictEqual } from 'node:util'
import type { TSchema } from '@sinclair/typebox'
import t from 'tap'
import type { StorageAttribute } from '../../engine/catalog/attribute.ts'
import { ATTRIBUTE_SCHEMAS, MODEL_SCHEMA, TYPES_OF_OPTION } from '../../engine/catalog/model-schema.ts'
import { assignNumbers } from '../../engine/catalog/table-numbers.ts'
import { CALCULATED_TYPES, NUMBER_TYPES, SCALAR_TYPES, STORAGE_TYPES } from '../../engine/catalog/value-type.ts'
import { ProtocolError } from '../../engine/base/errors.ts'
import { loadModel } from '../../engine/index.ts'
import { encodePlain } from '../../engine/row-format/wire-value.ts'
import { convertValue } from '../../engine/write/value/convert.ts'
import { createTestServer } from '../../kernel/testing.ts'
import { codeIn, type Row, tablesOf } from '../support/checks/page-tables.ts'
import { followTour, tourOf } from '../support/clients/tour.ts'
import { modelWith } from '../support/fixtures/model-with.ts'

const PAGE = 'plugins/docs/pages/guide/model.md'
const tables = tablesOf(PAGE)
// biome-ignore lint/suspicious/noExplicitAny: parts of model files
type Json = any

const files: Json[] = [...readFileSync(PAGE, 'utf8').matchAll(/^```json\n(.*?)^```$/gms)].map(([, text]) =>
  JSON.parse(text!),
)
const blocks = files.filter(file => file.dataClasses)
const roles = files.find(file => file.permissions)

/** The model file after a step: a renamed dataclass loses its former name, attributes are replaced, everything else is added. */
function grown(before: Json, step: Json): Json {
  const after = structuredClone(before)
  for (const [name, { attributes, ...rest }] of Object.entries<Json>(step.dataClasses)) {
    const dataClass = after.dataClasses[name] ?? { attributes: {} }
    delete after.dataClasses[rest.formerName]
    after.dataClasses[name] = { ...dataClass, ...rest, attributes: { ...dataClass.attributes, ...attributes } }
  }
  return { ...after, ...step, dataClasses: after.dataClasses }
}

const models: Json[] = []
for (const step of blocks) models.push(grown(models.at(-1) ?? { dataClasses: {} }, step))

t.test('the example is a model after each step', async t => {
  t.equal(models.length, 8)
  for (const model of models) loadModel(model)
  const classes = loadModel(models.at(-1)).dataClasses
  t.strictSame(
    classes.map(({ name }) => name),
    ['Author', 'Book', 'Loan', 'Member'],
  )
  const [before, after] = models.slice(-2)
  const numbers = assignNumbers(before)
  const renamed = assignNumbers(after, numbers).dataClasses
  t.equal(renamed.Member!.tableNumber, numbers.dataClasses.Reader!.tableNumber, 'a renamed dataclass keeps its number')
  t.equal(
    renamed.Member!.attributes.fullName,
    numbers.dataClasses.Reader!.attributes.name,
    'so does a renamed attribute',
  )
})

t.test('a server of the example answers as the page says', async t => {
  const server = await createTestServer({ model: models.at(-2) })
  t.teardown(() => server.close())
  const tour = tourOf(PAGE)
  const restricted = tour.findIndex(({ command }) => command.includes('name,email'))
  t.ok(restricted > 10)
  await followTour(t, server.url, tour.slice(0, restricted))
  const withRoles = await createTestServer({
    model: models.at(-2),
    roles,
    data: { Author: [{ name: 'Ursula K. Le Guin', email: 'ursula@example.org' }] },
  })
  t.teardown(() => withRoles.close())
  await followTour(t, withRoles.url, tour.slice(restricted))
})

const attributes = MODEL_SCHEMA.properties.dataClasses
const dataClass: TSchema = Object.values(attributes.patternProperties)[0]!
const COMMON = ['scope', 'formerName', 'extraProperties']
/** Heading of each list, the schema behind it, and the smallest object that satisfies this schema. */
const LISTS: readonly { heading: string; schema: TSchema; least: Json; isAttribute?: boolean }[] = [
  { heading: 'The file', schema: MODEL_SCHEMA, least: {} },
  { heading: 'A dataclass', schema: dataClass, least: { storage: { postgres: 'main' } } },
  { heading: 'Storage attributes', schema: ATTRIBUTE_SCHEMAS.storage, least: {} },
  {
    heading: 'Relations to one',
    schema: ATTRIBUTE_SCHEMAS.relatedEntity,
    least: { kind: 'relatedEntity', type: 'A', foreignKey: 'other' },
  },
  {
    heading: 'Relations to many',
    schema: ATTRIBUTE_SCHEMAS.relatedEntities,
    least: { kind: 'relatedEntities', type: 'A', inverseName: 'up' },
  },
  { heading: 'Aliases', schema: ATTRIBUTE_SCHEMAS.alias, least: { kind: 'alias', path: 'ID' } },
  {
    heading: 'Calculated attributes',
    schema: ATTRIBUTE_SCHEMAS.calculated,
    least: { kind: 'calculated', type: 'date' },
  },
]

interface Property {
  readonly path: string
  readonly schema: TSchema
  readonly isRequired: boolean
}

/** Properties of an object and of nested objects, but not of dataclasses and attributes, which have lists of their own. */
function propertiesOf(schema: TSchema, prefix = ''): Property[] {
  return Object.entries<TSchema>(schema.properties ?? {}).flatMap(([name, each]) => {
    const path = prefix + name
    const own = { path, schema: each, isRequired: schema.required?.includes(name) ?? false }
    const values: TSchema | undefined = Object.values<TSchema>(each.patternProperties ?? {})[0]
    const isListed = name === 'dataClasses' || name === 'attributes'
    const inside = values && !isListed ? propertiesOf(values, `${path}.*.`) : propertiesOf(each, `${path}.`)
    return [own, ...inside]
  })
}

function valueCell(schema: TSchema): string {
  const { enum: words, anyOf, type, items, minimum, maximum, minLength, properties, patternProperties } = schema
  if (anyOf) return anyOf.map(valueCell).join(', or ')
  if (isDeepStrictEqual(words, STORAGE_TYPES)) return '[type](#types-of-values)'
  if (isDeepStrictEqual(words, CALCULATED_TYPES)) return '[type](#types-of-values) but `vector`'
  if (words) return words.map((word: unknown) => `\`${JSON.stringify(word)}\``).join(', ')
  if (patternProperties) return 'by name'
  if (properties) return 'object'
  if (items?.type === 'array') return 'lists of names'
  if (items?.type === 'string') return 'list of texts'
  if (type === 'string') return minLength === undefined ? 'text' : 'text, not empty'
  if (type === undefined) return 'any JSON'
  if (minimum === undefined) return type
  return maximum === undefined ? `${type}, at least ${minimum}` : `${type}, ${minimum} to ${maximum}`
}

function typesCell(types: readonly string[] | undefined): string {
  if (!types) return 'all types'
  const groups: readonly (readonly [string, readonly string[]])[] = [
    ['scalars', SCALAR_TYPES],
    ['numbers', NUMBER_TYPES],
  ]
  const [name, group = []] = groups.find(([, group]) => group.every(type => types.includes(type))) ?? []
  const others = types.filter(type => !group.includes(type))
  return [...(name ? [name] : []), ...others.map(type => `\`${type}\``)].join(', ')
}

const listed = (heading: string, isAttribute: boolean): Map<string, Row> => {
  const rows = [...tables.get(heading)!, ...(isAttribute ? tables.get('Every attribute')! : [])]
  const byPath = new Map(rows.map(row => [codeIn(row.property!)[0]!, row]))
  t.equal(byPath.size, rows.length, `${heading}: no property twice`)
  return byPath
}

for (const { heading, schema, least } of LISTS) {
  t.test(`the list "${heading}" matches the schema`, async t => {
    const isAttribute = Object.values<TSchema>(ATTRIBUTE_SCHEMAS).includes(schema)
    const rows = listed(heading, isAttribute)
    const properties = propertiesOf(schema)
    t.strictSame([...rows.keys()].sort(), properties.map(({ path }) => path).sort())
    for (const { path, schema: property, isRequired } of properties) {
      const row = rows.get(path)!
      t.equal(row.value, valueCell(property), `${path}: value`)
      t.equal(row.default === 'required', isRequired, `${path}: required or not`)
      t.ok(row.meaning!.length > 2, `${path}: meaning`)
      const types = TYPES_OF_OPTION.get(path.split('.')[0]!)
      if (row.for !== undefined && !COMMON.includes(path)) t.equal(row.for, typesCell(types), `${path}: types`)
      const [literal] = row.default!.startsWith('`') ? codeIn(row.default!) : []
      if (literal === undefined) continue
      const base = heading === 'Storage attributes' ? smallest(types) : least
      const value = JSON.parse(literal.replace('{name}', 'A'))
      const [without, within] = [undefined, value].map(each => catalogWith(heading, put(base, path.split('.'), each)))
      t.equal(within, without, `${path}: ${literal} is the default`)
    }
  })
}

/** The smallest storage attribute of a type that an option applies to, or of any type. */
const smallest = (types: readonly string[] | undefined): Json => {
  const type = types?.at(-1) ?? 'string'
  return { type, ...(type === 'vector' && { dimension: 2 }), ...(type === 'decimal' && { scale: 2 }) }
}

/** A copy with the value at the end of the path, and with all objects on the way. */
function put(object: Json, [name, ...path]: string[], value: unknown): Json {
  const key = name === '*' ? 'p' : name!
  const inside = object[key] ?? (name === '*' ? { type: 'string' } : {})
  return { ...object, [key]: path.length > 0 ? put(inside, path, value) : value }
}

/** Everything that the catalog of a model with this part contains, as text. */
function catalogWith(heading: string, part: Json): string {
  const isAttribute = heading !== 'A dataclass'
  const up = { kind: 'relatedEntity', type: 'A', foreignKey: 'other' }
  const own = {
    ID: { type: 'long' },
    other: { type: 'long' },
    ...(heading === 'Relations to many' && { up }),
    ...(isAttribute && { x: JSON.parse(JSON.stringify(part)) }),
  }
  const model = { name: 'm', dataClasses: { A: { ...(!isAttribute && part), key: 'ID', attributes: own } } }
  return inspect(loadModel(JSON.parse(JSON.stringify(model))), { depth: 12 })
}

t.test('the types of values match the code, and all examples of a type are the same value', async t => {
  const rows = tables.get('Types of values')!
  t.strictSame([...new Set(rows.map(row => codeIn(row.type!)[0]))].sort(), [...STORAGE_TYPES].sort())
  t.strictSame(
    rows
      .map(row => codeIn(row.type!)[0]!)
      .filter((type, i, all) => SCALAR_TYPES.some(each => each === type) && all.indexOf(type) === i)
      .sort(),
    [...SCALAR_TYPES].sort(),
  )
  for (const row of rows) {
    const [type, option] = codeIn(row.type!)
    const needed = { ...(type === 'vector' && { dimension: 3 }), ...(type === 'decimal' && { scale: 2 }) }
    const x = { type, ...needed, ...(option && { [option]: true }) }
    const catalog = loadModel(modelWith({ A: { x } }))
    const attribute = catalog.dataClasses[0]!.attributesByName.get('x') as StorageAttribute
    const examples = codeIn(row.examples!)
    t.equal(examples.length > 0, type !== 'image' && type !== 'blob', row.type!)
    for (const example of examples) {
      const value = convertValue(attribute, JSON.parse(example), false)
      if (value instanceof ProtocolError) t.fail(value.message)
      else t.equal(encodePlain(attribute, value, { dateOnlyFormat: 'iso' }), examples[0], `${row.type}: ${example}`)
    }
  }
})

t.test('dates and durations are saved as the page says, or refused', async t => {
  const options = { at: { type: 'date' }, day: { type: 'date', simpleDate: true }, time: { type: 'duration' } }
  const model = modelWith({ A: { ...options } })
  const { attributesByName } = loadModel(model).dataClasses[0]!
  const saved = (name: string, text: string): unknown => {
    const attribute = attributesByName.get(name) as StorageAttribute
    const value = convertValue(attribute, text, false)
    return value instanceof ProtocolError
      ? value.name
      : JSON.parse(encodePlain(attribute, value, { dateOnlyFormat: 'iso' }))
  }
  const rows = tables.get('Dates and times')!
  for (const row of rows) {
    for (const text of codeIn(row.examples ?? row.refused!)) {
      if (row.milliseconds) t.equal(saved('time', text), Number(codeIn(row.milliseconds)[0]), text)
      else t.equal(saved('at', text), row.moment ? codeIn(row.moment)[0] : 'WRITE.WRONG_TYPE', text)
      if (row.refused) t.equal(saved('day', text), 'WRITE.WRONG_TYPE', text)
    }
  }
  t.equal(saved('day', '2025-07-01T00:30:00+02:00'), '2025-07-01')
})
