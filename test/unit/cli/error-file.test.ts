/** An error file replaces nothing but error files. */
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { ErrorFile } from '../../../kernel/cli/error-file.ts'
import { world } from './load-people.ts'

const CSV = 'ID,name\n1,Ann\n2,a very long name\n'
const ERRORS = '__LINE,__ERROR,ID,name\n'

t.test('a load that would replace something else saves nothing', async t => {
  const { load, people, config, cwd } = world(t, { 'a.csv': CSV, 'notes.txt': 'mine', 'e.csv': ERRORS })
  const at = (name: string): string => join(cwd, name)
  mkdirSync(at('folder'))
  linkSync(at('a.csv'), at('hard.csv'))
  symlinkSync(at('a.csv'), at('soft.csv'))
  symlinkSync(at('nowhere'), at('dangling.csv'))
  const before = () => ['a.csv', 'notes.txt', 'model.json'].map(name => readFileSync(at(name), 'utf8'))
  const files = before()
  for (const [name, reason] of [
    ['a.csv', 'a.csv is the file with the rows; name another one with --errors'],
    ['hard.csv', 'hard.csv is the file with the rows'],
    ['soft.csv', 'soft.csv is the file with the rows'],
    ['notes.txt', 'notes.txt exists and is not an error file of an earlier load'],
    ['model.json', 'model.json exists and is not an error file of an earlier load'],
    ['folder', 'folder is a folder'],
    ['dangling.csv', 'dangling.csv is a link to something that does not exist'],
    ['none/e.csv', 'no such file or directory'],
  ] as const)
    await t.rejects(load('a.csv', { errors: at(name) }), { name: 'InputError', message: reason }, name)
  t.same(before(), files)
  t.notOk(existsSync(config.data), 'the store was not opened')
  t.match(await load('a.csv', { errors: at('e.csv') }), { text: /1 inserted, 1 rejected/ }, 'an earlier error file')
  t.match(readFileSync(at('e.csv'), 'utf8'), /^__LINE,__ERROR,ID,name\n3,/)
  t.equal((await people()).length, 1)
})

t.test('the name by default leads through no link', async t => {
  const cwd = t.testdir({ 'e.csv': ERRORS })
  const defaultPath = join(cwd, 'a.csv.errors.csv')
  symlinkSync(join(cwd, 'e.csv'), defaultPath)
  t.throws(() => new ErrorFile({ defaultPath }), { name: 'InputError', message: /a\.csv\.errors\.csv is a link; name/ })
  new ErrorFile({ defaultPath, path: defaultPath }).add('2,"x",1')
  t.ok(lstatSync(defaultPath).isSymbolicLink())
  t.equal(readFileSync(join(cwd, 'e.csv'), 'utf8'), '2,"x",1\n')
})

t.test('the beginnings of error files', t => {
  const cwd = t.testdir()
  const path = join(cwd, 'e')
  for (const [text, isReplaced] of [
    ['', true],
    [ERRORS, true],
    [`\uFEFF${ERRORS}`, true],
    ['__LINE;__ERROR;a\n', true],
    ['{"__LINE":1,"__ERROR":"x"}\n', true],
    ['{"line":1,"errors":[],"row":1}\n', true],
    ['__LINES\n', false],
    ['{"a":1}\n', false],
    ['\n__LINE', false],
    ['\0'.repeat(100), false],
  ] as const) {
    writeFileSync(path, text)
    const open = () => new ErrorFile({ defaultPath: path })
    if (isReplaced) t.doesNotThrow(open, JSON.stringify(text))
    else t.throws(open, { name: 'InputError' }, JSON.stringify(text))
  }
  rmSync(path)
  const file = new ErrorFile({ defaultPath: path })
  t.notOk(existsSync(path), 'there is no file without a row')
  file.add('ä')
  file.close()
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(file.bytes, 3)
  t.end()
})

const FULL = '/dev/full'
t.test('a full disk', { skip: !existsSync(FULL) && `there is no ${FULL}` }, async t => {
  const { load, people, cwd } = world(t, { 'a.csv': CSV })
  await t.rejects(load('a.csv', { errors: FULL }), {
    message:
      /^the file of errors \/dev\/full cannot be written: ENOSPC[^\n]*\n2 rows read: 1 inserted[^\n]*; --resume continues$/,
  })
  const errors = join(cwd, 'e.csv')
  t.match(await load('a.csv', { errors, resume: true }), { text: /1 row could not be saved/ })
  t.match(readFileSync(errors, 'utf8'), /^__LINE,__ERROR,ID,name\n3,"name [^\n]*",2,a very long name\n$/)
  t.equal((await people()).length, 1)
})
