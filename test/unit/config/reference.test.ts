import { join } from 'node:path'
import t from 'tap'
import { isReference, readReference } from '../../../config/reference.ts'

t.test('an object with one text, env or file, is a reference', t => {
  const table: [unknown, boolean][] = [
    [{ env: 'A' }, true],
    [{ file: 'a' }, true],
    [{ env: '' }, true],
    [{ env: 'A', file: 'a' }, false],
    [{ env: 'A', default: 'b' }, false],
    [{ env: 1 }, false],
    [{ file: { env: 'A' } }, false],
    [{ envs: 'A' }, false],
    [{}, false],
    [['env'], false],
    ['env', false],
    [null, false],
  ]
  for (const [value, expected] of table) t.equal(isReference(value), expected, JSON.stringify(value))
  t.end()
})

t.test('a reference leads to a text, or to the reason why it does not', t => {
  const folder = t.testdir({
    plain: 'abc',
    line: 'abc\n',
    windows: 'abc\r\n',
    lines: 'a\nb\n\n',
    spaces: ' abc ',
    marked: Buffer.from('\ufeffabc'),
    empty: '',
    break: '\n',
    latin: Buffer.from([0x67, 0x72, 0xfc, 0xdf]),
    largest: 'x'.repeat(64 * 1024),
    large: 'x'.repeat(64 * 1024 + 1),
    sub: { inner: 'abc' },
    link: t.fixture('symlink', 'plain'),
  })
  const remedy = 'it has to be a text file with the value and nothing else'
  const form = 'write { "env": "VARIABLE" } or { "file": "path" }, with nothing beside it'
  const environment = 'set it in the environment of the server'
  const at = (name: string) => join(folder, name)
  const table: [Parameters<typeof readReference>[0], string | { problem: string }][] = [
    [{ env: 'KEY' }, 'abc'],
    [{ env: 'LINE' }, 'abc\n'],
    [{ env: 'EMPTY' }, { problem: `the variable EMPTY is empty; ${environment}` }],
    [{ env: 'NONE' }, { problem: `the variable NONE is not set; ${environment}` }],
    [{ env: 'toString' }, { problem: `the variable toString is not set; ${environment}` }],
    [{ env: '' }, { problem: `the reference has an empty env; ${form}` }],
    [{ file: 'plain' }, 'abc'],
    [{ file: at('plain') }, 'abc'],
    [{ file: 'sub/inner' }, 'abc'],
    [{ file: 'link' }, 'abc'],
    [{ file: 'line' }, 'abc'],
    [{ file: 'windows' }, 'abc'],
    [{ file: 'lines' }, 'a\nb\n'],
    [{ file: 'spaces' }, ' abc '],
    [{ file: 'marked' }, 'abc'],
    [{ file: 'largest' }, 'x'.repeat(64 * 1024)],
    [{ file: 'large' }, { problem: `the file ${at('large')} is larger than 64 KiB; ${remedy}` }],
    [{ file: 'empty' }, { problem: `the file ${at('empty')} is empty; ${remedy}` }],
    [{ file: 'break' }, { problem: `the file ${at('break')} is empty; ${remedy}` }],
    [{ file: 'latin' }, { problem: `the file ${at('latin')} is not UTF-8; ${remedy}` }],
    [{ file: 'sub' }, { problem: `${at('sub')} is not a file; ${remedy}` }],
    [{ file: '/dev/zero' }, { problem: `/dev/zero is not a file; ${remedy}` }],
    [{ file: 'none' }, { problem: `there is no file ${at('none')}; ${remedy}` }],
    [{ file: '' }, { problem: `the reference has an empty file; ${form}` }],
  ]
  for (const [reference, expected] of table) {
    const found = readReference(reference, { KEY: 'abc', LINE: 'abc\n', EMPTY: '' }, folder)
    t.strictSame(found, typeof expected === 'string' ? { text: expected } : expected, JSON.stringify(reference))
  }
  for (const file of ['a\0b', 'plain/under']) {
    const found = readReference({ file }, {}, folder)
    t.match(found, { problem: /^the file .* cannot be read: / }, file)
  }
  t.end()
})
