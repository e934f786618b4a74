import t from 'tap'
import { openCsv } from '../../../../engine/import/open-csv.ts'
import { CsvSplitter } from '../../../../engine/import/split-csv.ts'
import { splitList } from '../../../../engine/import/split-list.ts'
import { rawLines, type RowText, splitLines } from '../../../../engine/import/split-rows.ts'
import { randomOf } from '../../../support/base/random.ts'

async function* inParts(text: string, size: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size)
}
const collect = async (parts: AsyncIterable<RowText[]>): Promise<[number, string][]> => {
  const found: [number, string][] = []
  for await (const rows of parts) for (const { line, text } of rows) found.push([line, text])
  return found
}
/** Records of CSV with their fields. */
const records = async (parts: AsyncIterable<RowText[]>, delimiter: string) => {
  const splitter = new CsvSplitter(delimiter)
  const found: RowText[] = []
  for await (const lines of parts) for (const line of lines) splitter.push(line, found)
  splitter.end(found)
  return found.map(record => ({ ...record, fields: splitter.split(record.text) }))
}

const arrays: { text: string; rows: [number, string][] }[] = [
  { text: ' [ ] ', rows: [] },
  {
    text: '[{"a":1},\n{"b":[2,{"c":3}]}\n]',
    rows: [
      [1, '{"a":1}'],
      [2, '{"b":[2,{"c":3}]}'],
    ],
  },
  {
    text: '[\n\n{"a":"],\\"}["} , 7]',
    rows: [
      [3, '{"a":"],\\"}["}'],
      [3, '7'],
    ],
  },
  {
    text: '[{"a":\n1}\n,\n{"b":2}]',
    rows: [
      [1, '{"a":\n1}'],
      [4, '{"b":2}'],
    ],
  },
  {
    text: '["\\\\",{"a":nonsense}]',
    rows: [
      [1, '"\\\\"'],
      [1, '{"a":nonsense}'],
    ],
  },
  {
    text: '[1,,2]',
    rows: [
      [1, '1'],
      [1, ''],
      [1, '2'],
    ],
  },
]
t.test('an array is split the same, however its text is cut into parts', async t => {
  for (const { text, rows } of arrays) {
    for (const size of [1, 2, 3, 7, 1000])
      t.strictSame(await collect(splitList(inParts(text, size))), rows, `${text} by ${size}`)
  }
})

/** Expected rows, with a pattern of the problem for broken ones. */
const broken: { text: string; rows: [number, string, RegExp?][] }[] = [
  {
    text: '[{"a":1},\n',
    rows: [
      [1, '{"a":1}'],
      [2, '', /the file ends inside the array/],
    ],
  },
  {
    text: '[{"a":1,"b":"x},\n{"a":2},\n{"a":3"},\n{"a":4}]',
    rows: [
      [1, '{"a":1,"b":"x},', /brackets do not close/],
      [2, '{"a":2}'],
      [3, '{"a":3"},', /brackets do not close/],
      [4, '{"a":4}'],
    ],
  },
  {
    text: '[\n  {\n    "a": 1,\n    "b": { "c": 2\n  },\n  {\n    "a": { "b": 2 }\n  },\n  {\n    "a": [3\n  },\n  {\n    "a": 4\n  }\n]\n',
    rows: [
      [2, '{\n    "a": 1,\n    "b": { "c": 2\n  },', /brackets do not close/],
      [6, '{\n    "a": { "b": 2 }\n  }'],
      [9, '{\n    "a": [3\n  },', /brackets do not close/],
      [12, '{\n    "a": 4\n  }'],
    ],
  },
  {
    text: '[1}, 2]',
    rows: [
      [1, '1}'],
      [1, '2'],
    ],
  },
  {
    text: '[{"a":1} {"b":\n',
    rows: [
      [1, '{"a":1} {"b":', /brackets do not close/],
      [2, '', /ends inside/],
    ],
  },
]
t.test('a mistake in an array affects as few elements as possible', async t => {
  for (const { text, rows } of broken) {
    for (const size of [1, 3, 7, 1000]) {
      const found: RowText[] = []
      for await (const rows of splitList(inParts(text, size))) found.push(...rows)
      t.strictSame(
        found.map(({ line, text }) => [line, text]),
        rows.map(row => row.slice(0, 2)),
        `${text} by ${size}`,
      )
      t.match(
        found.map(({ problem }) => problem),
        rows.map(row => row[2]),
      )
    }
  }
})

const wrongArrays = [
  { text: '', message: 'the file is empty' },
  {
    text: ' \n {"a":1}',
    message: 'line 2: "{" where an array should begin; for an object on each line give --format ndjson',
  },
  { text: ' \n 1', message: 'line 2: "1" where an array should begin' },
]
for (const { text, message } of wrongArrays) {
  t.test(`a text that is not an array is refused: ${message}`, async t => {
    await t.rejects(collect(splitList(inParts(text, 2))), { message })
  })
}

t.test('lines are split the same, however the text is cut, and keep their numbers over blank ones', async t => {
  for (const size of [1, 2, 5, 1000]) {
    t.strictSame(await collect(splitLines(inParts('{"a":1}\r\n\n  {"b":2}\n{"c":3}', size))), [
      [1, '{"a":1}'],
      [3, '{"b":2}'],
      [4, '{"c":3}'],
    ])
  }
})

const csv: { text: string; delimiter?: string; rows: [number, (string | null)[] | RegExp][] }[] = [
  {
    text: 'a,b\r\n\r\n1,\r\n,"" \n',
    rows: [
      [1, ['a', 'b']],
      [3, ['1', null]],
      [4, /a quote ends a field before " "/],
    ],
  },
  {
    text: '"a","b"\n"1;","x""y\r\nz,"\n',
    rows: [
      [1, ['a', 'b']],
      [2, ['1;', 'x"y\r\nz,']],
    ],
  },
  {
    text: '1\t"x"\t\n\t\t""',
    delimiter: '\t',
    rows: [
      [1, ['1', 'x', null]],
      [2, [null, null, '']],
    ],
  },
  // A wrong quote invalidates only its line.
  {
    text: '1,"A\n2,B\n3,"C"\n4,D',
    rows: [
      [1, /a quote ends a field/],
      [2, ['2', 'B']],
      [3, ['3', 'C']],
      [4, ['4', 'D']],
    ],
  },
  {
    text: '1,"A\n2,B\n3,C',
    rows: [
      [1, /opened and not closed/],
      [2, ['2', 'B']],
      [3, ['3', 'C']],
    ],
  },
  {
    text: '1,A"\n2,5" pipe\n3,C',
    rows: [
      [1, /does not begin with one/],
      [2, /does not begin with one/],
      [3, ['3', 'C']],
    ],
  },
  {
    text: '1,"A" x\n2,"B\nC\n3,"D"',
    rows: [
      [1, /before " x"/],
      [2, /a quote ends/],
      [3, ['C']],
      [4, ['3', 'D']],
    ],
  },
  {
    text: 'a\rb,c\rd',
    rows: [
      [1, ['a']],
      [2, ['b', 'c']],
      [3, ['d']],
    ],
  },
]
t.test('CSV is split into records, and a wrong quote invalidates only its line', async t => {
  for (const { text, delimiter = ',', rows } of csv) {
    for (const size of [1, 2, 5, 1000]) {
      const found: [number, (string | null)[] | string][] = []
      for (const { line, fields, problem } of await records(rawLines(inParts(text, size)), delimiter))
        found.push([line, problem ?? fields])
      t.match(found, rows, `${text} by ${size}`)
      t.equal(found.length, rows.length)
    }
  }
})

t.test('CSV that follows the standard is read back unchanged', async t => {
  const random = randomOf(7)
  const text = () =>
    Array.from({ length: random.integer(0, 4) }, () => random.pick(['a', '"', ',', '\n', '\r\n', ' '])).join('')
  for (let round = 0; round < 300; round++) {
    const rows = Array.from({ length: random.integer(1, 5) }, () => [text(), text(), text()])
    const file = rows.map(row => row.map(field => `"${field.replaceAll('"', '""')}"`).join(',')).join('\r\n')
    const found = await records(rawLines(inParts(file, random.integer(1, 9))), ',')
    t.strictSame(
      found.map(({ fields }) => fields),
      rows,
      file,
    )
  }
})

t.test('a long line without a line end is read in linear time, also in small parts', async t => {
  const length = 2 ** 24
  for (const ends of ['', '\r', '\r\n', '\rb']) {
    const found = await collect(rawLines(inParts(`${'x'.repeat(length)}${ends}`, 2 ** 12)))
    t.equal(found[0]![1].length, length + (ends === '\r' || ends === '\r\n' ? 1 : 0))
    t.equal(found.length, ends.length < 2 ? 1 : 2)
  }
})

t.test('elements with unclosed brackets inside others are read again only so far', async t => {
  const margin = (index: number): string =>
    `\n${index.toString(2).padStart(16, '0').replaceAll('0', ' ').replaceAll('1', '\t')}`
  const text = Array.from({ length: 8_000 }, (_, index) => `${margin(index)}{"x":[${margin(index)}{},`).join('')
  const found: RowText[] = []
  for await (const rows of splitList(inParts(`[${text}`, 2 ** 16))) found.push(...rows)
  // Without a bound, there would be a row for each of the elements, after billions of steps.
  t.ok(found.length > 100 && found.length < 8_000)
  t.match(found.at(-1), { problem: /the file ends inside the array/ })
})

t.test('records have a bounded number of fields, and headers a bounded length', async t => {
  const fields = ','.repeat(50_000)
  const [plain, quoted] = await records(rawLines(inParts(`${fields}\n""${fields}\n`, 2 ** 16)), ',')
  t.equal(plain!.fields.length, 32_769)
  t.match(quoted!.problem, /^more than 32768 fields; is this the right delimiter\?/)
  const open = (text: string, skipLines?: number) =>
    openCsv(rawLines(inParts(text, 2 ** 16)), { skipLines }, new Set(['name']))
  await t.rejects(open(`${fields}\n1`), /^line 1, the header, has more than 32768 fields/)
  await t.rejects(open(`name${'x'.repeat(2 ** 20)}\n1`), /^line 1, the header, has more than 1048576 characters/)
  const file = await open(`${'y\n'.repeat(3_000)}name,code\na,b\n`, 3_000)
  t.match(file, { skipLines: 3_000, header: ['name', 'code'] })
  t.strictSame(await collect(file.records), [[3_002, 'a,b']])
})
