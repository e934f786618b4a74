/** Random dataclasses of all types, and rows of CSV and JSON for them, most of them usual. */
import { loadModel } from '../../../../engine/catalog/load-model.ts'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import { wholeView } from '../../../../engine/catalog/view.ts'
import { rowLayout } from '../../../../engine/row-format/row-layout.ts'
import { ElementEncoder } from '../../../../engine/write/body/element-encoder.ts'
import type { Random } from '../../../support/base/random.ts'

/** Values as they are sent, most of them usual. */
const TEXTS = [
  'Ada',
  'éclair',
  'a b',
  '',
  'x'.repeat(120),
  '😀',
  '"q"',
  'a\\b',
  'a\nb',
  '\u2028',
  '\u007f',
  '=1',
  ' a ',
  '\u0000',
]
const NUMBERS = [
  '0',
  '1',
  '-7',
  '127',
  '128',
  '32768',
  '2147483647',
  '2147483648',
  '9007199254740993',
  '999999999999999',
]
const FRACTIONS = [
  '1.5',
  '1.234',
  '-0.25',
  '0.000001',
  '0.0000001',
  '1.50',
  '-0',
  '01',
  '1.',
  '.5',
  '1e3',
  '123456789.123456',
  '0.1234567890123456',
  '+1',
  '--1',
]
const DATES = [
  '2024-02-29',
  '2023-02-29',
  '2024-2-9',
  '0999-01-01',
  '31!1!2020',
  '2024-12-31',
  '2024-13-01',
  '2024-01-00',
]
const MOMENTS = [
  '2024-02-29T10:00:00.000Z',
  '2024-02-29T24:00:00.000Z',
  '2024-02-29T10:00:00Z',
  '2024-02-30T10:00:00.000Z',
  '2024-04-31',
]
const UUIDS = [
  '0123456789ABCDEF0123456789ABCDEF',
  '0123456789abcdef0123456789abcdef',
  '01234567-89AB-CDEF-0123-456789ABCDEF',
  'x',
]
const BOOLS = ['true', 'false', 'TRUE', '1', 'yes', 'maybe']

const VALUES: Record<string, readonly string[]> = {
  string: TEXTS,
  uuid: UUIDS,
  bool: BOOLS,
  date: [...MOMENTS, ...DATES],
  day: [...DATES, ...MOMENTS],
  byte: NUMBERS,
  word: NUMBERS,
  long: [...NUMBERS, ...FRACTIONS],
  long64: [...NUMBERS, ...FRACTIONS],
  number: [...FRACTIONS, ...NUMBERS],
  float: [...FRACTIONS, ...NUMBERS],
  decimal: ['1.50', '1.500', '7', '-12.34', '0.00', '-0.00', '1.5', '1', '1.505', ...NUMBERS],
  duration: ['1000', '00:00:01', '-5'],
  object: ['{}', '[1]', '{"a":1}'],
}
const TYPE_NAMES = Object.keys(VALUES)

export interface World {
  dataClass: DataClass
  /** Types of the attributes that can be set, by name. */
  types: Map<string, string>
  newEncoder(): ElementEncoder
}

function randomAttribute(random: Random, type: string): Record<string, unknown> {
  const options: Record<string, unknown> = { type }
  if (type === 'day') Object.assign(options, { type: 'date', simpleDate: true })
  if (type === 'decimal') Object.assign(options, { scale: random.pick([0, 2, 2, 3]), asText: random.chance(0.5) })
  const isIndexable = type !== 'object'
  if (isIndexable && random.chance(0.3)) options.indexed = true
  else if (isIndexable && random.chance(0.1)) options.unique = true
  if (random.chance(0.1)) options.mandatory = true
  if (random.chance(0.1)) options.readOnly = true
  if (random.chance(0.2)) options.scope = 'private'
  if (type === 'string' && random.chance(0.3))
    Object.assign(options, random.pick([{ maxLength: 4 }, { minLength: 1 }, { pattern: '[A-Z].*' }]))
  if (type === 'string' && !options.unique && random.chance(0.2)) options.default = 'N"é'
  if (['long', 'number'].includes(type) && random.chance(0.2)) options.minValue = 1
  if (type === 'number' && !options.unique && random.chance(0.2)) options.default = 1.5
  if (type === 'uuid' && random.chance(0.3)) options.autoFill = 'uuid'
  if (['date', 'day'].includes(type) && random.chance(0.3)) options.autoFill = 'now'
  if (type === 'string' && options.default === undefined && random.chance(0.1)) options.autoFill = 'user'
  return options
}

/** True for an attribute that can be unique together with others. */
const isTogether = ({ type, unique }: Record<string, unknown>): boolean => type !== 'object' && !unique

const partModel = (keyType: string) => ({
  key: 'ID',
  attributes: {
    ID: { type: 'long' },
    wholeKey: { type: keyType },
    whole: { kind: 'relatedEntity', type: 'Thing', foreignKey: 'wholeKey', inverseName: 'parts' },
  },
})

export function randomWorld(random: Random): World {
  const types = new Map<string, string>()
  const attributes: Record<string, unknown> = {}
  const keyType = random.pick(['long', 'long64', 'string', 'uuid', 'date'])
  const count = random.integer(2, 10)
  const keyPlace = random.integer(0, count)
  for (let i = 0; i <= count; i++) {
    if (i === keyPlace) {
      attributes.clé = {
        type: keyType,
        ...(keyType.startsWith('long') && random.chance(0.7) && { autoFill: 'increment' }),
        ...(keyType === 'uuid' && random.chance(0.7) && { autoFill: 'uuid' }),
      }
      types.set('clé', keyType)
      continue
    }
    const type = random.pick(TYPE_NAMES)
    const name = `${random.pick(['a', 'größe', 'x'])}${i}`
    attributes[name] = randomAttribute(random, type)
    types.set(name, type)
  }
  for (let i = random.integer(0, 2); i > 0; i--) {
    const [target, type] = random.pick([
      ['Stadt', 'string'],
      ['Firma', 'long'],
    ])
    attributes[`key${i}`] = { type, ...(random.chance(0.2) && type === 'string' && { default: 'New York' }) }
    types.set(`key${i}`, type!)
    attributes[`to${i}`] = { kind: 'relatedEntity', type: target, foreignKey: `key${i}`, inverseName: `back${i}` }
  }
  if (random.chance(0.4)) attributes.parts = { kind: 'relatedEntities', type: 'TeilSelection', inverseName: 'whole' }
  const names = [...types.keys()].filter(
    name => isTogether(attributes[name] as Record<string, unknown>) && name !== 'clé',
  )
  const back = (target: string) =>
    Object.fromEntries(
      Object.entries(attributes).flatMap(([, each]) => {
        const { type, inverseName } = each as { type: string; inverseName?: string }
        return type === target
          ? [
              [
                inverseName,
                { kind: 'relatedEntities', type: 'ThingSelection', inverseName: `to${inverseName!.slice(4)}` },
              ],
            ]
          : []
      }),
    )
  const catalog = loadModel({
    name: 'copied',
    dataClasses: {
      Thing: { key: 'clé', attributes, ...(names.length > 1 && random.chance(0.2) && { unique: [names.slice(0, 2)] }) },
      Stadt: { key: 'name', attributes: { name: { type: 'string' }, ...back('Stadt') } },
      Firma: { key: 'ID', attributes: { ID: { type: 'long' }, ...back('Firma') } },
      ...(attributes.parts ? { Teil: partModel(keyType) } : {}),
    },
  })
  const wire = { dateOnlyFormat: random.pick(['iso', 'iso', 'dmy'] as const) } as Parameters<typeof rowLayout>[2]
  const layouts = new Map(catalog.dataClasses.map(dataClass => [dataClass, rowLayout(dataClass, 1, wire)]))
  const dataClass = catalog.dataClassesByName.get('Thing')!
  const trusted = random.chance(0.7)
  const user = random.pick(['ada', ''])
  const nextKey = random.pick([1, 9, 98, 2_147_483_640])
  const newEncoder = () =>
    new ElementEncoder(dataClass, {
      layouts,
      view: wholeView(catalog),
      trusted,
      nextKey,
      maxBytes: 1e9,
      moment: 1_600_000_000_000,
      user,
      randomUuid: () => 'E'.repeat(32),
    })
  return { dataClass, types, newEncoder }
}

const sentValue = (random: Random, type: string): string => {
  const values = VALUES[type]!
  return random.chance(0.85) ? values[0]! : random.pick(values)
}

function randomField(random: Random, type: string): string {
  if (random.chance(0.05)) return ''
  const value = sentValue(random, type)
  const isQuoted = /["\n,]/.test(value) || random.chance(0.1)
  return isQuoted && !random.chance(0.02) ? `"${value.replaceAll('"', '""')}"` : value
}

export function randomRow(random: Random, types: readonly string[]): string {
  const fields = types.map(type => randomField(random, type))
  if (random.chance(0.03)) fields.push('x')
  if (random.chance(0.03)) fields.pop()
  return fields.join(',') + (random.chance(0.1) ? '\r' : '')
}

const isText = (type: string): boolean => ['string', 'uuid', 'date', 'day'].includes(type)

/** @param isBroken some texts are not JSON */
function randomMember(random: Random, [name, type]: readonly [string, string], isBroken: boolean): string {
  const value = sentValue(random, type)
  const isJson = isText(type) || isBroken || isValidJson(value)
  const isQuoted = isText(type) ? !isBroken || random.chance(0.9) : !isJson || random.chance(0.03)
  const json = random.chance(0.03) ? 'null' : isQuoted ? JSON.stringify(value) : value
  const written = random.chance(0.01) ? `"\\u0061${name.slice(1)}"` : JSON.stringify(name)
  return written + random.pick([':', ':', ': ', '\n:\t']) + json
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const NO_OBJECTS = ['7', '[]', '{}', 'null', '{"zzz":[{"a":"]"}]}']
const NO_JSON = ['', '{', '{"clé":}', '{"__proto__":1}', '{"clé":"\u0001"}', '{"clé":tru}', '{"clé":1,}']

export function randomObject(random: Random, { types }: World, isBroken: boolean): string {
  if (random.chance(0.03)) return random.pick(isBroken ? NO_JSON : NO_OBJECTS)
  const members = [...types].filter(() => random.chance(0.95)).map(each => randomMember(random, each, isBroken))
  if (random.chance(0.05)) members.push(random.pick([...members, '"__KEY":null', '"__STAMP":1', '"zzz":1']))
  if (random.chance(0.1)) members.reverse()
  return `{${random.pick(['', '', ' '])}${members.join(random.pick([',', ',', ' , ']))}}`
}
