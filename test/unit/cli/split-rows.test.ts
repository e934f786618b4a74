import t from 'tap'
import { type RowText, splitArray, splitLines } from '../../../kernel/cli/split-rows.ts'

async function* inParts(text: string, size: number): AsyncGenerator<string> {
  for (let i = 0; i < text.length; i += size) yield text.slice(i, i + size)
}
const collect = async (rows: AsyncIterable<RowText>): Promise<[number, string][]> => {
  const found: [number, string][] = []
  for await (const { line, text } of rows) found.push([line, text])
  return found
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
      t.strictSame(await collect(splitArray(inParts(text, size))), rows, `${text} by ${size}`)
  }
})

const wrongArrays = [
  { text: '', message: 'the file is empty' },
  { text: ' \n {"a":1}', message: 'line 2: "{" where an array should begin' },
  { text: '[{"a":1},\n', message: 'line 2: the file ends inside the array' },
  { text: '[1]\n[2]', message: 'line 2: the file goes on behind the array' },
]
for (const { text, message } of wrongArrays) {
  t.test(`what is no array is refused: ${message}`, async t => {
    await t.rejects(collect(splitArray(inParts(text, 2))), { message })
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
