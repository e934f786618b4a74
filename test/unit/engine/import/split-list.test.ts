/** Lists in JSON documents are found and split, compared with `JSON.parse` and a walk along the path. */
import t from 'tap'
import { parsePath, pointerOf, showPath } from '../../../../engine/import/json-path.ts'
import { findList } from '../../../../engine/import/find-list.ts'
import { sampleFile } from '../../../../engine/import/sample-file.ts'
import { splitList } from '../../../../engine/import/split-list.ts'
import { readText } from '../../../../engine/import/read-text.ts'
import type { RowText } from '../../../../engine/import/split-rows.ts'
import { type Random, randomOf } from '../../../support/base/random.ts'

async function* inParts<T extends string | Buffer>(...parts: T[]): AsyncGenerator<T> {
  yield* parts
}
function* pieces(text: string, size: number): Generator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size)
}
const rowsOf = async (parts: AsyncIterable<string>, path: string): Promise<RowText[]> => {
  const found: RowText[] = []
  for await (const rows of splitList(parts, parsePath(path))) found.push(...rows)
  return found
}

/** The list of objects at a path, or undefined. */
function listAt(text: string, path: string): unknown[] | undefined {
  let value: unknown = JSON.parse(text)
  for (const name of parsePath(path)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  if (!Array.isArray(value)) return undefined
  const [first] = value
  return value.length === 0 || first === null || (typeof first === 'object' && !Array.isArray(first))
    ? value
    : undefined
}

const documents = [
  '{"items":[{"a":1},{"a":2}],"total":2}',
  ' {\n "data" : { "n": -1.5e3, "items" : [\n  {"a":"]}\\"["},\n  {"b":[[1]]} ] , "x":null } }\n',
  '{"a":[1,2],"b":[[{"a":1}]],"c":[],"d":{"items":[{}]},"e":"[{","items":{"items":[null,7]}}',
  '[{"page":1},[{"a":1},{"a":2}]]',
  '{"d":[{"items":[1]},{"items":[{"a":1}]},[{"items":[]}]]}',
  '{"a.b":{"c/d":{"e~f":[{"a":1}],"":[{"a":2}]}},"":[{"a":3}],"constructor":[{"a":4}]}',
  '{"d\\u0061ta":{"it\\"ems":[{"a":1}],"\\\\":[{"a":2}]}}',
  '{"größe":[{"a":"ü"}],"𝒳":[{"a":"😀"}]}',
  '[]',
  '[{"a":1}]',
]
const paths = [
  'items',
  'data.items',
  'd.items',
  'items.items',
  'a',
  'b',
  'c',
  'e',
  '/1',
  '/0/page',
  'd.1.items',
  'd.2.0.items',
  '/d/0/items',
  '/a.b/c~1d/e~0f',
  '/a.b/c~1d/',
  '/',
  'constructor',
  '/data/it"ems',
  '/data/\\',
  'größe',
  '𝒳',
  'toString',
]

t.test('a list is the one to which JSON.parse and a walk lead, wherever the text is cut', async t => {
  for (const text of documents) {
    for (const path of paths) {
      const expected = listAt(text, path)
      const cuts = expected ? Array.from(text, (_, i) => [text.slice(0, i), text.slice(i)]) : [[text]]
      for (const parts of [...cuts, [...pieces(text, 1)]]) {
        const what = `${path} in ${text}, cut after ${parts[0]}`
        const found = await rowsOf(inParts(...parts), path).catch((error: Error) => error)
        if (!expected) {
          t.match(found, { name: 'InputError', message: /(?:nothing at|not a list of objects)/ }, what)
          continue
        }
        t.notMatch(found, Error, what)
        t.strictSame(
          (found as RowText[]).map(row => JSON.parse(row.text)),
          expected,
          what,
        )
      }
    }
  }
})

t.test('bytes may be cut within characters', async t => {
  const bytes = Buffer.from('\uFEFF{"größe":[{"a":"😀"},{"a":"é"}],"x":1}')
  for (let i = 0; i <= bytes.length; i++) {
    const text = readText(inParts(bytes.subarray(0, i), bytes.subarray(i)))
    t.strictSame(
      (await rowsOf(text, 'größe')).map(row => row.text),
      ['{"a":"😀"}', '{"a":"é"}'],
    )
  }
  const utf16 = Buffer.from('\uFEFF{"größe":[{"a":"😀"}]}', 'utf16le')
  t.strictSame((await rowsOf(readText(inParts(utf16), 'utf-16le'), 'größe')).length, 1)
  await t.rejects(rowsOf(readText(inParts(utf16)), 'größe'), { message: /is UTF-16; give --encoding utf-16le/ })
})

/** A value of any depth. */
function anyValue(random: Random, depth: number): unknown {
  const kind = random.integer(0, depth > 3 ? 2 : 5)
  if (kind === 0) return random.pick([null, true, -1.5, 1e21])
  if (kind === 1) return random.pick(['', '"', '\\', '[{', '}]', 'a\nb', '\u0000', 'ü'])
  const count = random.integer(0, 3)
  const values = Array.from({ length: count }, () => anyValue(random, depth + 1))
  if (kind === 2 || kind === 3) return values
  // No name is a backslash alone, after which V8 misreads a name of one escaped character: https://github.com/nodejs/node/issues/63785.
  return Object.fromEntries(values.map(value => [random.pick(['a', 'b', 'a.b', '"', '', '0', 'c\\d']), value]))
}

/** Paths to all values. */
function pathsIn(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, each]) => pathsIn(each, [...path, name]))]
}

t.test('documents of any form: each path is found as by JSON.parse', async t => {
  const random = randomOf(41)
  let lists = 0
  for (let round = 0; round < 400; round++) {
    const document = anyValue(random, 0)
    const text = JSON.stringify(document, null, random.integer(0, 2))
    for (const names of pathsIn(document)) {
      const path = pointerOf(names)
      if (path === '') continue
      const expected = listAt(text, path)
      const found = await rowsOf(inParts(...pieces(text, random.integer(1, 20))), path).catch((error: Error) => error)
      if (expected) lists++
      if (!expected) t.match(found, { name: 'InputError' }, `${path} in ${text}`)
      else
        t.strictSame(
          (found as RowText[]).map(row => JSON.parse(row.text)),
          expected,
          `${path} in ${text}`,
        )
    }
  }
  t.ok(lists > 100, `${lists} lists`)
})

t.test('rows have the lines of the document', async t => {
  const text = '{\n"n":1,"a\\"":[\n"["\n],"items": [\n\n {"a":\n1},\n{"a":2}]\n}'
  for (const parts of [[text], [...pieces(text, 1)]])
    t.strictSame(
      (await rowsOf(inParts(...parts), 'items')).map(({ line }) => line),
      [6, 8],
    )
})

const refused: [string, string, RegExp | string][] = [
  [
    '{"data":{"items":[{}]},"x":[{}]}',
    'data',
    'data is an object, not a list of objects; lists of objects: data.items, x',
  ],
  ['{"a":[{}]}', 'b.c', 'there is nothing at b.c; lists of objects: a'],
  ['{"a":1}', 'b', 'there is nothing at b; there is no list of objects'],
  [
    '{"a":[1],"b.c":[{}],"d e":[{}]}',
    'a',
    'a is a list, whose first element is a number, not a list of objects; lists of objects: /b.c, "/d e"',
  ],
  ['[{}]', 'a', 'there is nothing at a; lists of objects: the document itself is a list, without a path'],
  [`{${Array.from({ length: 30 }, (_, i) => `"n${i}":[{}]`)}}`, 'x', /n0, n1, .*, n9, 20 other lists$/],
  ['{"a":[{}]', 'b', 'there is nothing at b; the file ends inside the document; lists of objects: a'],
  ['', 'a', 'the file is empty'],
  [' \n', 'a', 'the file is empty'],
  ['7', 'a', 'line 1: "7" where an array should begin'],
  ['{"a":1 "b":2}', 'b', 'line 1: "\\"" where a comma should be'],
  ['{\n"a" 1}', 'b', 'line 2: "1" where a colon should be'],
  ['{a:1}', 'b', 'line 1: "a" where a name in quotes should be'],
  ['{"a":x}', 'b', 'line 1: "x" where a value should begin'],
  ['{"a":"b\n"}', 'b', 'line 1: a text does not end on its line'],
  ['{"\\x":1}', 'b', /is not a text of JSON/],
  [
    '{"a":1}\n{"a":2}',
    'b',
    'line 2: "{" after the end of the document; for an object on each line give --format ndjson',
  ],
  [
    '{"a":[{}],"b":[{}]}',
    '',
    'line 1: "{" where an array should begin; the option path chooses a list of objects in it: a, b',
  ],
]
t.test('what a path does not find is refused with the lists that exist', async t => {
  for (const [text, path, message] of refused)
    for (const parts of [[text], [...pieces(text, 1)]])
      await t.rejects(rowsOf(inParts(...parts), path), { name: 'InputError', message }, text)
})

/** Documents with a mistake, and the last row that they have. */
const wrongAfter: [string, RegExp][] = [
  ['{"a":[{}', /ends inside the array/],
  ['{"a":[{}]', /ends inside the document/],
  ['{"a":[{}],"b":"x', /ends inside the document/],
  ['{"a":[{}],\n"a":[{}]}', /^after the list: line 2: the name "a" occurs twice/],
  ['{"a":[{}],"\\u0061":1}', /the name "a" occurs twice/],
  ['{"a":[{}]}\n{"a":[{}]}', /^after the list: line 2: "\{" after the end of the document/],
  ['{"a":[{}],}', /where a name in quotes should be/],
  ['{"a":[{}]]', /where a comma should be/],
]
t.test('a mistake after the list is a row with a problem, and the rows before it are read', async t => {
  for (const [text, problem] of wrongAfter) {
    for (const parts of [[text], [...pieces(text, 1)]]) {
      const [first, ...others] = await rowsOf(inParts(...parts), 'a')
      t.match(first, { text: '{}', problem: undefined }, text)
      t.match(others, [{ problem }], text)
      t.equal(others.length, 1, text)
    }
  }
})

t.test('what follows a document that is a list is a row with a problem', async t => {
  for (const [text, problem] of [
    ['[{}][{}]', /^after the list: line 1: "\[" after the end of the document$/],
    ['[{}]\n{"a":1}', /^after the list: line 2: "\{" after the end of the document; for an object on each line/],
    ['[{}]\n},\n{}]', /^after the list: line 2: "\}"/],
  ] as const) {
    for (const parts of [[text], [...pieces(text, 1)]])
      t.match(await rowsOf(inParts(...parts), ''), [{ text: '{}' }, { text: '', problem }], text)
  }
  t.equal((await rowsOf(inParts('[{}] \n\n'), '')).length, 1)
})

t.test('a mistake in a row affects that row alone', async t => {
  const text = '{"n":1,"a":[\n {"b":"x},\n {"b":2},\n {"b":3\n {"b":4}\n],"c":[{}]}'
  for (const parts of [[text], [...pieces(text, 1)]]) {
    t.match(await rowsOf(inParts(...parts), 'a'), [
      { line: 2, problem: /brackets do not close/ },
      { line: 3, text: '{"b":2}' },
      { line: 4, problem: /brackets do not close/ },
      { line: 5, text: '{"b":4}' },
    ])
  }
  const list = '[\n{"a":1,\n{"a":2}\n]\n'
  t.match(await rowsOf(inParts(list), ''), [
    { line: 2, problem: /do not close/ },
    { line: 3, text: '{"a":2}' },
  ])
})

t.test('hostile documents end, with an error where they have no list', async t => {
  const deep = 100_000
  const nested = `{"x":${'['.repeat(deep)}${']'.repeat(deep)},"y":${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`
  t.equal((await rowsOf(inParts(...pieces(`${nested},"items":[{"a":1}]}`, 1000)), 'items')).length, 1)
  await t.rejects(rowsOf(inParts('['.repeat(deep)), 'a'), { message: /nothing at a; .* ends inside the document/ })
  await t.rejects(rowsOf(inParts('{"a":'.repeat(deep)), 'a.b'), { message: /nothing at a\.b; .* ends inside/ })
  const [row] = await rowsOf(inParts(`{"a":[{"b":${'['.repeat(deep)}${']'.repeat(deep)}}]}`), 'a')
  t.equal(row?.text.length, 2 * deep + 6)
  const huge = 'k'.repeat(1_000_000)
  await t.rejects(rowsOf(inParts(`{"${huge}":[{}],"a":1}`), 'b'), {
    message: 'there is nothing at b; lists of objects: 1 other list',
  })
  t.equal((await rowsOf(inParts(...pieces(`{"${huge}":[{}],"a":[{}]}`, 999)), 'a')).length, 1)
  const withoutCommas = await rowsOf(inParts(`{"a":[\n${'{"b":1}\n'.repeat(200_000)}`), 'a')
  t.match(withoutCommas, [{ line: 2, problem: /do not close/ }, { line: 3 }, { problem: /ends inside the array/ }])
  t.equal((await rowsOf(inParts('{"__proto__":[{"a":1}]}'), '__proto__')).length, 1)
  t.equal((await rowsOf(inParts(`{"a":[${' '.repeat(1_000_000)}\n{}]}`), 'a')).length, 1)
})

const wrongPaths: [string, RegExp][] = [
  ['a..b', /has an empty name/],
  ['.a', /has an empty name/],
  ['a.', /has an empty name/],
  ['/a~2', /~0 is "~" and ~1 is "\/"/],
  ['a.'.repeat(10_000), /^the path "a\..*…" has more than 1000 characters$/],
  [Array.from({ length: 60 }, () => 'a').join('.'), /has more than 50 names/],
]
t.test('a path is dotted names or a JSON pointer', t => {
  for (const [path, message] of wrongPaths) t.throws(() => parsePath(path), { name: 'InputError', message })
  for (const [path, names, shown] of [
    ['', [], ''],
    ['data.items', ['data', 'items'], 'data.items'],
    ['/data/items', ['data', 'items'], 'data.items'],
    ['/a.b/~0~1', ['a.b', '~/'], '/a.b/~0~1'],
    ['/~01', ['~1'], '/~01'],
    ['/', [''], '/'],
    ['/a b', ['a b'], '"/a b"'],
  ] as const) {
    t.strictSame(parsePath(path), names)
    t.equal(showPath(names), shown)
    t.strictSame(parsePath(pointerOf(names)), names)
  }
  t.end()
})

t.test('the list of a document that can be read only once is the only one if the beginning has all of it', async t => {
  const options = { file: 'it', encoding: undefined, findsFeatures: true, reread: undefined }
  const find = (text: string, isWhole: boolean) => findList({ bytes: Buffer.from(text), isWhole }, options)
  t.strictSame(await find('{"a":[{}]}', true), { format: 'json', path: '/a' })
  t.strictSame(await find('[{}', false), { format: 'json' })
  t.strictSame(await find('{"type":"FeatureCollection","x":[{', false), { format: 'geojson' })
  t.strictSame(await find('{"features":[{"type":"Feature"},', false), { format: 'geojson' })
  t.strictSame(await find('{"features":[{"type":"x"}],"type":"x"}', true), { format: 'json', path: '/features' })
  t.strictSame(await find('', true), { format: 'json' })
  await t.rejects(find('{"a":[{}],', false), {
    name: 'InputError',
    message: 'it is an object, and can be read only once: --path names the list of its rows, such as a',
  })
  // A list after the beginning has no rows in a sample.
  const sample = { bytes: Buffer.from('{"a":[1,2,'), isWhole: false }
  t.match(await sampleFile('json', sample, { path: 'b' }), { rows: 0, columns: [], isWhole: false })
  await t.rejects(sampleFile('json', { ...sample, isWhole: true }, { path: 'b' }), { message: /nothing at b/ })
})
