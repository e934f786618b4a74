import { type TObject, type TSchema, Type } from '@sinclair/typebox'
import t from 'tap'
import { type Reference, UNREAD } from '../../../config/reference.ts'
import { withoutKnownSecrets } from '../../../engine/base/known-secrets.ts'
import { hasOnlyDefaults, optionProblems } from '../../../kernel/plugin-options.ts'

const VALUES: Readonly<Record<string, string>> = {
  KEY: 'geheim-1234',
  PORT: '587',
  RATE: '-1.5e-3',
  YES: 'true',
  HEX: '0x1f7777',
  HUGE: '90071992547409930',
  ENDLESS: '1e999999',
  ZERO: '0587234',
  PADDED: ' 587234',
}
const read = (reference: Reference) => {
  const text = VALUES['env' in reference ? reference.env : reference.file]
  return text === undefined ? { problem: 'the variable is not set' } : { text }
}
const resolve = (schema: TObject, options: object) => {
  const copy = structuredClone(options) as Record<string, unknown>
  return { problems: optionProblems('acme', schema, copy, read), options: copy }
}

t.test('references become what the schema wants at their place', t => {
  const key = { env: 'KEY' }
  const recursive = Type.Recursive(self => Type.Object({ key: Type.String(), inner: Type.Optional(self) }))
  const table: { name: string; schema: TSchema; given: unknown; expected: unknown }[] = [
    { name: 'a text', schema: Type.String(), given: key, expected: 'geheim-1234' },
    { name: 'a text from a file', schema: Type.String(), given: { file: 'KEY' }, expected: 'geheim-1234' },
    { name: 'a text that looks like a number', schema: Type.String(), given: { env: 'PORT' }, expected: '587' },
    { name: 'an integer', schema: Type.Integer(), given: { env: 'PORT' }, expected: 587 },
    { name: 'a number', schema: Type.Number(), given: { env: 'RATE' }, expected: -0.0015 },
    { name: 'a boolean', schema: Type.Boolean(), given: { env: 'YES' }, expected: true },
    {
      name: 'one of several types',
      schema: Type.Union([Type.Number(), Type.Boolean()]),
      given: { env: 'YES' },
      expected: true,
    },
    {
      name: 'a number or null',
      schema: Type.Union([Type.Null(), Type.Number()]),
      given: { env: 'PORT' },
      expected: 587,
    },
    {
      name: 'a number or a text',
      schema: Type.Union([Type.Number(), Type.String()]),
      given: { env: 'PORT' },
      expected: '587',
    },
    {
      name: 'a literal',
      schema: Type.Union([Type.Literal(25), Type.Literal(587)]),
      given: { env: 'PORT' },
      expected: 587,
    },
    { name: 'elements', schema: Type.Array(Type.String()), given: ['a', key], expected: ['a', 'geheim-1234'] },
    {
      name: 'a tuple',
      schema: Type.Tuple([Type.String(), Type.Integer()]),
      given: [key, { env: 'PORT' }],
      expected: ['geheim-1234', 587],
    },
    {
      name: 'a deep place',
      schema: Type.Object({ a: Type.Array(Type.Object({ b: Type.Integer() })) }),
      given: { a: [{ b: { env: 'PORT' } }] },
      expected: { a: [{ b: 587 }] },
    },
    {
      name: 'a map',
      schema: Type.Record(Type.String(), Type.Integer()),
      given: { 'a/b~': { env: 'PORT' } },
      expected: { 'a/b~': 587 },
    },
    {
      name: 'part of an intersection',
      schema: Type.Intersect([Type.Object({ a: Type.Integer() }), Type.Object({ b: Type.String() })]),
      given: { a: { env: 'PORT' }, b: key },
      expected: { a: 587, b: 'geheim-1234' },
    },
    {
      name: 'a recursive schema',
      schema: recursive,
      given: { key, inner: { key } },
      expected: { key: 'geheim-1234', inner: { key: 'geheim-1234' } },
    },
    { name: 'anything', schema: Type.Any(), given: { a: key }, expected: { a: 'geheim-1234' } },
    {
      name: 'an object that the plugin means itself',
      schema: Type.Object({ file: Type.String() }),
      given: { file: 'KEY' },
      expected: { file: 'KEY' },
    },
    {
      name: 'one of several objects',
      schema: Type.Union([Type.String(), Type.Object({ env: Type.String() })]),
      given: key,
      expected: key,
    },
    {
      name: 'a reference within such an object',
      schema: Type.Object({ file: Type.String() }),
      given: { file: key },
      expected: { file: 'geheim-1234' },
    },
  ]
  for (const { name, schema, given, expected } of table) {
    const { options, problems } = resolve(Type.Object({ a: schema }), { a: given })
    t.strictSame({ options, problems }, { options: { a: expected }, problems: [] }, name)
  }
  t.end()
})

t.test('problems name plugin, option and reference, never the value, and are reported together', t => {
  const schema = Type.Object({
    key: Type.String({ pattern: '^sk_' }),
    smtp: Type.Object({ port: Type.Integer({ maximum: 10 }), secure: Type.Boolean(), tags: Type.Array(Type.String()) }),
    numbers: Type.Array(Type.Number()),
    target: Type.Object({ file: Type.Optional(Type.String()) }),
  })
  const env = (name: string) => ({ env: name })
  const { problems } = resolve(schema, {
    key: env('KEY'),
    kee: env('KEY'),
    smtp: { port: env('PORT'), secure: env('KEY'), tags: { file: 'KEY' } },
    target: env('KEY'),
    numbers: ['HEX', 'HUGE', 'ENDLESS', 'ZERO', 'PADDED', 'KEY', 'NONE'].map(env),
  })
  t.strictSame(problems, [
    'plugin acme has no option kee; did you mean "key"?',
    'plugin acme: option smtp.secure: the variable KEY holds neither true nor false',
    'plugin acme: option smtp.tags: the file KEY holds a text, and the option has to be of the type array',
    'plugin acme: option target: the variable KEY holds a text, and the option has to be of the type object',
    ...['HEX', 'HUGE', 'ENDLESS', 'ZERO', 'PADDED', 'KEY'].map(
      (name, i) => `plugin acme: option numbers.${i}: the variable ${name} does not hold a number such as 587`,
    ),
    'plugin acme: option numbers.6: the variable is not set',
    'plugin acme: option key must match pattern "^sk_", in the variable KEY',
    'plugin acme: option smtp.port must be <= 10, in the variable PORT',
  ])
  t.equal(withoutKnownSecrets('geheim-1234 0x1f7777'), '(hidden) (hidden)', 'unusable values are hidden too')
  t.end()
})

t.test('an option with a reference that is not read is not checked, and all others are', t => {
  const schema = Type.Object({
    key: Type.String({ pattern: '^sk_' }),
    smtp: Type.Union([Type.Object({ port: Type.Integer() }), Type.Object({ socket: Type.String() })]),
    limit: Type.Integer({ maximum: 10 }),
    name: Type.String(),
    currency: Type.String({ default: 'EUR' }),
  })
  const env = (name: string) => ({ env: name })
  const given = { key: env('NONE'), smtp: { port: env('NONE') }, limit: 11, kee: env('NONE') }
  const options = structuredClone(given) as Record<string, unknown>
  t.strictSame(
    optionProblems('acme', schema, options, () => UNREAD),
    [
      'plugin acme has no option kee; did you mean "key"?',
      "plugin acme: option  must have required property 'name'",
      'plugin acme: option limit must be <= 10',
    ],
  )
  t.strictSame(options, { ...given, currency: 'EUR' })
  t.end()
})

t.test('problems say what is accepted, once', t => {
  const closed = { additionalProperties: false }
  const schema = Type.Object({
    kind: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['basic', 'post'] })),
    mode: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
    key: Type.Optional(Type.String()),
    inner: Type.Optional(Type.Object({ prompt: Type.Optional(Type.String()) }, closed)),
    byName: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z]+$' }), Type.String(), closed)),
  })
  const reference = 'to refer to a value, write { "env": "VARIABLE" } or { "file": "path" }, with nothing beside it'
  const table: [options: object, problem: string][] = [
    [{ kind: 'x' }, 'kind must be one of "basic", "post"'],
    [{ kind: { env: 'PORT' } }, 'kind must be one of "basic", "post", in the variable PORT'],
    [{ mode: { env: 'PORT' } }, 'mode must be one of "a", "b", in the variable PORT'],
    [{ inner: { promt: 'x' } }, 'inner has no "promt"; did you mean "prompt"?'],
    [{ inner: { x: 'x' } }, 'inner has no "x"; it has prompt'],
    [{ byName: { A_b: 'x' } }, 'byName has no "A_b"; names match ^[a-z]+$'],
    [{ key: { env: 'PORT', file: 'y' } }, `key must be string; ${reference}`],
    [{ key: { Env: 'PORT' } }, `key must be string; ${reference}`],
    [{ key: { env: 'PORT', default: 'y' } }, `key must be string; ${reference}`],
    [{ key: { name: 'PORT' } }, 'key must be string'],
  ]
  for (const [options, problem] of table)
    t.strictSame(resolve(schema, options).problems, [`plugin acme: option ${problem}`], JSON.stringify(options))
  t.end()
})

t.test('a plugin has a maximum number of references, and defaults beside them', t => {
  const schema = Type.Object({ list: Type.Array(Type.String()), currency: Type.String({ default: 'EUR' }) })
  const of = (count: number) => resolve(schema, { list: Array.from({ length: count }, () => ({ env: 'KEY' })) })
  t.match(of(100), { problems: [], options: { currency: 'EUR' } })
  t.match(of(101).problems, [/^plugin acme: option list\.100: there are more than 100 references; /])
  t.end()
})

t.test('defaults without a checker are those of the checker, or left to it', t => {
  const table: { name: string; schema: TObject; given?: object; isLeft?: boolean }[] = [
    { name: 'no options', schema: Type.Object({}) },
    {
      name: 'a number and a text',
      schema: Type.Object({ n: Type.Integer({ default: 3 }), s: Type.String({ default: '' }) }),
    },
    { name: 'one that may be left out', schema: Type.Object({ s: Type.Optional(Type.String()) }) },
    {
      name: 'lists and empty objects',
      schema: Type.Object({
        list: Type.Array(Type.String(), { default: ['a'] }),
        of: Type.Record(Type.String(), Type.String(), { default: {} }),
      }),
    },
    {
      name: 'one that has to be given',
      schema: Type.Object({ s: Type.String(), n: Type.Integer({ default: 3 }) }),
      isLeft: true,
    },
    {
      name: 'parts with defaults',
      schema: Type.Object({ of: Type.Object({ n: Type.Integer({ default: 3 }) }, { default: {} }) }),
      isLeft: true,
    },
    {
      name: 'one that is given',
      schema: Type.Object({ n: Type.Integer({ default: 3 }) }),
      given: { n: 4 },
      isLeft: true,
    },
  ]
  for (const { name, schema, given = {}, isLeft = false } of table) {
    const options = structuredClone(given) as Record<string, unknown>
    t.equal(hasOnlyDefaults(schema, options), !isLeft, name)
    t.strictSame(options, isLeft ? given : resolve(schema, {}).options, name)
  }
  const [first, second]: Record<string, unknown>[] = [{}, {}]
  const schema = Type.Object({ list: Type.Array(Type.String(), { default: [] }) })
  for (const options of [first!, second!]) hasOnlyDefaults(schema, options)
  t.not(first!.list, second!.list, 'servers of a process share none')
  t.end()
})
