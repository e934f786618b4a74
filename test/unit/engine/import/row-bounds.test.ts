/** Rows that would cost more than their length in time or memory. */
import t from 'tap'
import { proposeClass } from '../../../../engine/import/propose-class.ts'
import { sampleFile } from '../../../../engine/import/sample-file.ts'
import { excessOf } from '../../../../engine/import/row-bounds.ts'
import { rejectedRow } from '../../../../engine/import/rejected-row.ts'
import { csvErrors, jsonErrors } from '../../../../engine/import/rejected-source.ts'

const object = (count: number): string => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join()}}`

t.test('rows of JSON have bounds for names and values', async t => {
  for (const [text, excess] of [
    [object(10_000), undefined],
    [object(10_001), /^a row has at most 10000 names$/],
    [`{"a":${object(100_000)}}`, undefined],
    [`{"a":${object(100_001)}}`, /^an object in a row has at most 100000 names$/],
    [`{"a":[${`${object(9_999)},`.repeat(20)}1]}`, undefined],
    [`{"a":${JSON.stringify('":,[{'.repeat(2_000_000))}}`, undefined],
    [`{"a":[${'1,'.repeat(4_000_000)}1]}`, /^a row has at most 4000000 values$/],
    [`]}}}${'"a":1,'.repeat(10_001)}`, undefined],
  ] as const)
    t.match(excessOf(text), excess as RegExp, text.slice(0, 40))
})

t.test('rejected rows with many blanks are written in linear time', async t => {
  const blanks = ' '.repeat(2 ** 20)
  const row = { line: 1, json: `{"a":1,${blanks}"b":\n${blanks}2}`, value: {} }
  t.equal(rejectedRow(row, []), `{"line":1,"errors":[],"row":{"a":1,${blanks}"b": 2}}`)
  t.equal(
    jsonErrors.line({ line: 1, text: `{"a":"${blanks}","b":[ \r\n 1]}` }, ['x']),
    `{"__LINE":1,"__ERROR":"x","a":"${blanks}","b":[ 1]}`,
  )
  t.equal(csvErrors(['a'], ',').line({ line: 1, text: 'b' }, [`x${blanks}y`]), `1,"x${blanks}y",b`)
})

t.test('the reasons of an earlier error file are removed, however long they are', async t => {
  const errors = csvErrors(['__LINE', '__ERROR', 'a', 'b'], ';')
  const long = 'x'.repeat(2 ** 24)
  for (const [text, row] of [
    [`5;"${long}";1;2`, '1;2'],
    [`5;"a""b;""";1;2`, '1;2'],
    [`5;${long};1;2`, '1;2'],
    [';;1;2', '1;2'],
    ['5', '5'],
    ['5;a', '5;a'],
    ['5;a"b;c', '5;a"b;c'],
    ['5;"a"b;c', '5;"a"b;c'],
    ['5;"a', '5;"a'],
    ['x;a;b', 'x;a;b'],
  ] as const)
    t.equal(errors.line({ line: 1, text }, ['r']), `1;"r";${row}`)
})

t.test('a sample of objects with many names ends early, and no dataclass is proposed for them', async t => {
  const row = (index: number): string => `{${Array.from({ length: 40 }, (_, i) => `"n${index * 40 + i}":1`).join()}}`
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, i) => row(i)).join('\n'))
  const sample = await sampleFile('ndjson', { bytes, isWhole: true }, {})
  t.notOk(sample.isWhole)
  t.equal(sample.columns.length, 10_040)
  t.throws(
    () => proposeClass({ ...sample, className: 'Wide', names: {}, types: {}, key: undefined }),
    /^the file has 10040 columns, and a dataclass of at most 4000 attributes is created/,
  )
})
