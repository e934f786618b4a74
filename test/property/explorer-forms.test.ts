/**
 * Forms of the explorer against a server: an entity with unusual values of all types is read, one attribute is changed as fields of
 * a browser change it, and saved. All other values are the same to the byte, and the changed one is the text that the user has seen.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/explorer-forms.test.js      repeats one world
 */
import t from 'tap'
import type { Attribute, DataClass } from '../../plugins/explorer/page/base/model.ts'
import { type Control, controlOf, shownText, typedInput } from '../../plugins/explorer/page/entity/control.ts'
import { editable, editorOf, type Input, inputOf } from '../../plugins/explorer/page/entity/editor.ts'
import { membersOf, objectOf } from '../../plugins/explorer/page/entity/json-text.ts'
import { localTime } from '../../plugins/explorer/page/entity/times.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { isLong, longCount, seeds, timeoutMs } from '../support/runner/rounds.ts'
import { startServer } from '../support/servers/test-server.ts'

process.env.TZ = 'Europe/Berlin'
Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { languages: ['de-DE'] } })

interface Form {
  readonly dataClass: DataClass
  readonly base: { readonly json: ReadonlyMap<string, string> } | undefined
  readonly inputs: ReadonlyMap<string, Input>
}
// `as string`: this module is of a project with the types of browsers.
const { changedValues, storedInput } = (await import('../../plugins/explorer/page/entity/changes.ts' as string)) as {
  changedValues(form: Form): readonly (readonly [string, string])[]
  storedInput(form: Form, attribute: Attribute): Input
}

const WORLDS = isLong ? longCount(20) : 2
const ENTITIES = 40

const model = {
  name: 'forms',
  dataClasses: {
    Target: { key: 'code', attributes: { code: { type: 'string' }, name: { type: 'string' } } },
    Nasty: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        line: { type: 'string' },
        lines: { type: 'string', multiLine: true },
        yes: { type: 'bool' },
        byte: { type: 'byte' },
        word: { type: 'word' },
        long: { type: 'long' },
        long64: { type: 'long64' },
        number: { type: 'number' },
        float: { type: 'float' },
        decimal: { type: 'decimal', scale: 4 },
        amount: { type: 'decimal', scale: 2, asText: true },
        day: { type: 'date', simpleDate: true },
        time: { type: 'date' },
        duration: { type: 'duration' },
        uuid: { type: 'uuid' },
        object: { type: 'object' },
        vector: { type: 'vector', dimension: 3 },
        picture: { type: 'image' },
        bytes: { type: 'blob' },
        targetCode: { type: 'string' },
        target: { kind: 'relatedEntity', type: 'Target', foreignKey: 'targetCode' },
      },
    },
  },
}
const CODES = [' ', "a'b", 'a"b', 'a/b?c#d', 'ä\u0301', '😀', 'null', '0', 'a\nb']

const PARTS = [
  '\n',
  '\r\n',
  '\r',
  ' ',
  '\t',
  '\0',
  '\u0085',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u202e',
  '\ud800',
  '\udc00',
  '😀',
]
const PLAIN = ['a', 'B', '"', '\\', '<b>', 'null', 'e\u0301', '1,5', '\u00ad', '\x7f', '\x1b']
const text = (random: Random): string =>
  Array.from({ length: random.integer(0, 12) }, () => random.pick(random.chance(0.5) ? PARTS : PLAIN)).join('')

const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.integer(0, 9)).join('')
const decimal = (random: Random, scale: number): string =>
  `${random.pick(['', '-'])}${random.integer(1, 9)}${digits(random, random.integer(0, 17 - scale))}.${digits(random, scale)}`
const double = (random: Random): string =>
  random.pick([
    '0',
    '-0',
    '1e21',
    '5e-324',
    '1.7976931348623157e308',
    '0.1',
    '123456789.125',
    '-1e-7',
    `0.${digits(random, 17)}`,
  ])
const integer = (random: Random, bits: number): string =>
  random.pick([
    '0',
    String(2n ** BigInt(bits - 1) - 1n),
    String(-(2n ** BigInt(bits - 1))),
    String(random.integer(-100, 100)),
  ])
/** Around the ends of summer time, before Christ, in the time of local times with seconds, and far in the future. */
const instant = (random: Random): string => {
  const near = random.pick([
    '2025-10-26T00:30:00Z',
    '2025-03-30T01:00:00Z',
    '1890-06-01',
    '0001-01-01',
    '9999-12-31',
    '-000044-03-15',
    '+012000-01-01',
    '2026-07-01T12:00Z',
  ])
  return new Date(Date.parse(near) + random.integer(-7_200_000, 7_200_000)).toISOString()
}
function value(random: Random, depth: number): string {
  if (depth === 0 || random.chance(0.3))
    return random.pick([JSON.stringify(text(random)), double(random), 'true', 'null', '12345678901234567890', '1.0'])
  const inner = Array.from({ length: random.integer(0, 3) }, () => value(random, depth - 1))
  if (random.chance(0.4)) return `[${inner}]`
  return objectOf(
    inner.map((json, at) => [random.pick(['2', '1', 'b', 'a.b', '', '__KEY', '__deferred', `n${at}`]), json]),
  )
}

/** JSON of a value, by attribute. */
const VALUES: Readonly<Record<string, (random: Random) => string>> = {
  line: random => JSON.stringify(text(random)),
  lines: random => JSON.stringify(text(random)),
  yes: random => random.pick(['true', 'false']),
  byte: random => integer(random, 8),
  word: random => integer(random, 16),
  long: random => integer(random, 32),
  long64: random => integer(random, 64),
  number: double,
  float: double,
  decimal: random => decimal(random, 4),
  amount: random => `"${decimal(random, 2)}"`,
  day: random => JSON.stringify(instant(random).split('T')[0]),
  time: random => JSON.stringify(instant(random)),
  duration: random =>
    random.pick(['0', '-1', '1500', '90061001', '-0.5', '1234.5678', '1e21', '5e-324', '359999999999']),
  uuid: random => `"${Array.from({ length: 32 }, () => random.pick([...'0123456789ABCDEF'])).join('')}"`,
  object: random => `{"x":${value(random, 3)}}`,
  vector: random => `[${[0.1, random.integer(-9, 9), 1e-7]}]`,
  targetCode: random => JSON.stringify(random.pick(CODES)),
}

/** Value of a field after it is set. Source: HTML, 4.10.5.1, value sanitization algorithms; 4.10.11, API value. */
function held(control: Control, value: string): string {
  switch (control) {
    case 'area':
      return value.replace(/\r\n?/g, '\n')
    case 'text':
      return value.replace(/[\r\n]/g, '')
    case 'date':
      return /^\d{4,}-\d\d-\d\d$/.test(value) && value > '0001' && !Number.isNaN(Date.parse(value)) ? value : ''
    case 'datetime-local':
      return /^\d{4,}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/.test(value) && value > '0001' ? value : ''
  }
}

interface Change {
  /** Text in the field after typing. */
  readonly typed: string
  /** JSON that is stored then. */
  readonly stored: string
}

/** A change of what a field shows. */
function changeOf(random: Random, attribute: Attribute, json: string, shown: string): Change {
  const value: unknown = JSON.parse(json)
  switch (editorOf(attribute, false)) {
    case 'text':
    case 'lines': {
      if (attribute.type === 'uuid') return { typed: '0'.repeat(32), stored: `"${'0'.repeat(32)}"` }
      if (attribute.scale !== undefined) return { typed: '-7.10', stored: '"-7.10"' }
      // The whole text is typed in front of a character of the stored one.
      const parts = value === null ? [] : ((value as string).match(/\r\n|./gs) ?? [])
      const at = random.integer(0, parts.length)
      const typed = [...parts.slice(0, at), '§', ...parts.slice(at)]
      return {
        typed: typed.map(part => part.replace(/\r\n?/, '\n')).join(''),
        stored: JSON.stringify(typed.join('')),
      }
    }
    case 'number':
      if (attribute.type === 'long64') return { typed: '9007199254740993', stored: '9007199254740993' }
      if (attribute.scale !== undefined) return { typed: '12345678901234,5', stored: '12345678901234.5000' }
      return ['number', 'float'].includes(attribute.type)
        ? { typed: '1,234', stored: '1.234' }
        : { typed: '-7', stored: '-7' }
    case 'duration':
      return { typed: '-100:00:00.0625', stored: '-360000062.5' }
    case 'date':
      return { typed: '2024-02-29', stored: '"2024-02-29"' }
    case 'time': {
      if (shown.endsWith('Z')) return { typed: '-000044-03-16T01:02:03.004Z', stored: '"-000044-03-16T01:02:03.004Z"' }
      // A minute later, which is another local time in the hour that clocks repeat and in the one that they skip.
      const later =
        value === null ? '2026-01-01T00:00:00.000Z' : new Date(Date.parse(value as string) + 60_000).toISOString()
      return { typed: localTime(later), stored: JSON.stringify(later) }
    }
    case 'json':
      return {
        typed: `{"first": 1e2,${shown.slice(1) || '"x":[]}'}`,
        stored: `{"first":100,${json === 'null' ? '"x":[]}' : json.slice(1)}`,
      }
    case 'vector':
      return { typed: '[0.1, -0.25, 2e-7]', stored: '[0.1,-0.25,2e-7]' }
    default:
      throw new Error(`no change for ${attribute.name}`)
  }
}

for (const seed of seeds(WORLDS)) {
  t.test(`forms change what the user changes alone, seed ${seed}`, { timeout: timeoutMs }, async t => {
    const random = randomOf(seed)
    // Thousands of lines of passes would take longer than the test.
    const same = (actual: unknown, expected: unknown, message: string): void => {
      if (actual !== expected) t.equal(actual, expected, message)
    }
    const server = await startServer(t, { model, rows: { Target: CODES.map(code => ({ code, name: code })) } })
    const { dataClasses } = (await server.get('/$catalog/$all')).json as { dataClasses: DataClass[] }
    const dataClass = dataClasses.find(({ name }) => name === 'Nasty')!
    const load = async (key: string): Promise<ReadonlyMap<string, string>> =>
      membersOf((await server.get(`/Nasty(${key})?$attributes=*,target.name&$brief=20000`)).text)
    const send = async (values: Iterable<readonly [string, string]>): Promise<string> => {
      const { status, text, json } = await server.post('/Nasty?$method=update', objectOf(values))
      if (status !== 200) t.fail(`${objectOf(values)}: ${text}`)
      return json.__KEY
    }
    for (let count = 0; count < ENTITIES; count++) {
      const filled = Object.entries(VALUES).filter(() => random.chance(0.9))
      const key = await send(filled.map(([name, make]) => [name, make(random)]))
      const base = { json: await load(key) }
      const fields = editable(dataClass, false).filter(each => !['image', 'blob'].includes(each.type))
      // Fields that are only shown.
      for (const attribute of fields) {
        const json = base.json.get(attribute.name)
        const stored = inputOf(attribute, json)
        const control = controlOf(attribute, stored)
        const shown = shownText(control, stored)
        if (attribute.kind === 'storage' && attribute.type !== 'bool')
          same(held(control, shown), shown, `${attribute.name} ${control} ${printable(String(stored))}`)
        const back = typedInput(control, { stored, before: stored, typed: shown })
        if (attribute.kind === 'storage' && attribute.type !== 'bool') {
          const form = { dataClass, base, inputs: new Map([[attribute.name, back]]) }
          same(changedValues(form).length, 0, `${attribute.name} typed and removed: ${printable(json ?? '')}`)
        }
      }
      const attribute = random.pick(fields)
      const { name } = attribute
      const json = base.json.get(name) ?? 'null'
      const stored = inputOf(attribute, json)
      let input: Input
      let expected: string
      if (attribute.kind === 'relatedEntity') {
        input = random.pick(CODES.filter(code => code !== stored))
        expected = JSON.stringify(input)
      } else if (attribute.type === 'bool') {
        input = stored === null ? false : null
        expected = JSON.stringify(input)
      } else {
        const control = controlOf(attribute, stored)
        const change = changeOf(random, attribute, json, shownText(control, stored))
        input = typedInput(control, { stored, before: stored, typed: held(control, change.typed) })
        expected = change.stored
      }
      const changes = changedValues({ dataClass, base, inputs: new Map([[name, input]]) })
      const isSame = expected === json
      t.same(
        changes.map(([changed]) => changed),
        isSame ? [] : [name],
        'only the changed attribute is sent',
      )
      if (isSame) continue
      await send([['__KEY', JSON.stringify(key)], ['__STAMP', base.json.get('__STAMP')!], ...changes])
      const after = await load(key)
      for (const { name: other } of dataClass.attributes) {
        if (other === name || (name === 'target' && other === 'targetCode')) continue
        same(after.get(other), base.json.get(other), `${other} stays when ${name} changes`)
      }
      const got = name === 'target' ? after.get('targetCode') : after.get(name)
      same(got, expected, `${name} was ${printable(json)}`)
    }
  })
}

t.test('a form of a new entity shows defaults, and sends null for one that is removed', async t => {
  const attribute = (name: string, type: string, more: object = {}) => ({ name, kind: 'storage', type, ...more })
  const attributes = [
    attribute('open', 'bool', { default: false }),
    attribute('state', 'string', { default: 'new' }),
    attribute('day', 'date', { simpleDate: true, default: '2030-01-31' }),
    attribute('shelfCode', 'string', { default: 'A1' }),
    { name: 'shelf', kind: 'relatedEntity', type: 'Shelf', foreignKey: 'shelfCode' },
    attribute('plain', 'string'),
  ] as readonly Attribute[]
  const dataClass = { name: 'Loan', collectionName: 'Loans', attributes, key: [{ name: 'ID' }] } as unknown as DataClass
  const form = (inputs: Readonly<Record<string, Input>>): Form => ({
    ...{ dataClass, base: undefined },
    inputs: new Map(Object.entries(inputs)),
  })
  const shown = Object.fromEntries(attributes.map(each => [each.name, storedInput(form({}), each)]))
  t.same(shown, { open: false, state: 'new', day: '2030-01-31', shelfCode: 'A1', shelf: 'A1', plain: null })
  t.same(changedValues(form(shown)), [])
  t.same(changedValues(form({ open: true, state: null, shelf: null, plain: null })), [
    ['open', 'true'],
    ['state', 'null'],
    ['shelf', 'null'],
  ])
})

/** For messages of one line. */
const printable = (text: string): string =>
  JSON.stringify(text).replace(/[^ -~]/g, each => `\\u${each.charCodeAt(0).toString(16)}`)
