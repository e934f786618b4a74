import t from 'tap'
import { ByteWriter } from '../../../../../engine/answer/byte-writer.ts'
import type { RowFormat } from '../../../../../engine/query/contract/request.ts'
import { RowRewriter } from '../../../../../engine/query/serialise/rewrite-rows.ts'
import fc from '../../../../support/runner/fast-check.ts'

/** Rewritten text of rows that arrive in pieces of these sizes, in rotation. */
function rewritten(json: string, format: RowFormat, sizes: readonly number[]): string {
  const out = new ByteWriter()
  out.begin(2 ** 24)
  out.open()
  const rewriter = new RowRewriter(out, format)
  const bytes = Buffer.from(json)
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!
    // The buffer of a piece is reused, so it is overwritten after the call.
    const piece = Buffer.from(bytes.subarray(at, at + size))
    rewriter.write(piece)
    piece.fill(0x22)
    at += size
  }
  return Buffer.from(out.remainder()).toString()
}

/** Bodies with the name `__proto__` are refused, so no value has it. */
const value = fc.jsonValue().filter(each => !JSON.stringify(each).includes('__proto__'))
const entity = fc.dictionary(fc.constantFrom('a', 'b', 'größe', '"'), value, { noNullPrototype: true })
const entities = fc.array(entity.map(values => ({ __KEY: '1', ...values })))
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })

t.test('lines are the unchanged entities, wherever pieces end', async () => {
  fc.assert(
    fc.property(entities, sizes, (rows, sizes) => {
      const expected = rows.map(row => `${JSON.stringify(row)}\n`).join('')
      return rewritten(JSON.stringify(rows), { kind: 'lines' }, sizes) === expected
    }),
  )
})

/** Parses CSV by the grammar of RFC 4180. */
function parseCsv(text: string): string[][] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/y
  const lines: string[][] = []
  let line: string[] = []
  while (field.lastIndex < text.length) {
    const [, quoted, plain, end] = field.exec(text)!
    line.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
    if (end === ',') continue
    lines.push(line)
    line = []
  }
  return lines
}

t.test('fields of CSV hold texts as they are and other values as JSON', async () => {
  const columns = [['a'], ['größe'], ['"'], ['b', 'c']]
  const valueAt = (value: unknown, [name, ...rest]: readonly string[]): unknown => {
    if (name === undefined) return value
    if (Array.isArray(value)) return value.map(element => valueAt(element, [name, ...rest]) ?? null)
    return valueAt(Object.getOwnPropertyDescriptor(Object(value), name)?.value, rest)
  }
  const field = (value: unknown): string =>
    value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  fc.assert(
    fc.property(entities, sizes, (rows, sizes) => {
      const lines = parseCsv(rewritten(JSON.stringify(rows), { kind: 'csv', columns }, sizes))
      const expected = rows.map(row => columns.map(path => field(valueAt(row, path))))
      return JSON.stringify(lines) === JSON.stringify([['a', 'größe', '"', 'b.c'], ...expected])
    }),
  )
})

t.test('a path through an array has the value of each element; properties of prototypes are ignored', async t => {
  const json = '[{"__KEY":"1","staff":[{"name":"a"},{"name":null}],"info":{"x":[1]}}]'
  const columns = [
    ['staff', 'name'],
    ['info', 'constructor'],
    ['info', '__proto__'],
    ['info', 'x', 'length'],
  ]
  t.equal(rewritten(json, { kind: 'csv', columns }, [100]).split('\r\n')[1], '"[""a"",null]",,,[null]')
})

t.test('numbers keep their digits, deleted entities have no line', async t => {
  const json = '[{"__KEY":"1","a":9223372036854775807,"b":123456789012345.678},{"__STAMP":0},{"__KEY":"2","a":null}]'
  t.equal(
    rewritten(json, { kind: 'csv', columns: [['a'], ['b']] }, [3]),
    'a,b\r\n9223372036854775807,123456789012345.678\r\n,\r\n',
  )
})
