/** Loads that end early, and go on. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RowTarget } from '../../../engine/row-target.ts'
import { check } from '../../../kernel/cli/check.ts'
import { world } from './load-people.ts'

t.setTimeout(120_000)

t.test('a load that ends early reports what was saved, and can be resumed', async t => {
  const rows = Array.from({ length: 50_010 }, (_, i) => `{"ID":${i},"name":"N"${i === 3 ? ',"bossID":50009' : ''}}\n`)
  const { load, people, cwd } = world(t, { 'a.ndjson': rows.join('') })
  // The second request is saved, but its outcome does not arrive.
  const insert = RowTarget.prototype.insert
  let calls = 0
  const { restore } = t.intercept(RowTarget.prototype, 'insert', {
    async value(this: RowTarget, ...args: Parameters<typeof insert>) {
      const left = await insert.apply(this, args)
      if (++calls === 2) throw new Error('the disk is full')
      return left
    },
  })
  await t.rejects(load('a.ndjson'), {
    message: /^the disk is full\n50010 rows read: 49999 inserted; --resume continues$/,
  })
  restore()
  await t.rejects(load('a.ndjson'), {
    message: /^a load of .*a\.ndjson stopped after row 50000; --resume continues, --restart begins from the first row$/,
  })
  mkdirSync(join(cwd, 'other'))
  writeFileSync(join(cwd, 'other', 'a.ndjson'), '')
  await t.rejects(load('other/a.ndjson'), { message: /--resume with \/.*a\.ndjson continues/ })
  const { isComplete, text } = await load('a.ndjson', { resume: true })
  t.equal(text, 'continuing after row 50010\n1 row read: 1 inserted\n')
  t.ok(isComplete)
  const all = await people()
  t.equal(all.length, rows.length)
  t.equal(all[3]!.bossID, 50009)
  t.notOk(readdirSync(join(cwd, 'data')).some(name => name.startsWith('load.')))

  writeFileSync(join(cwd, 'b.ndjson'), rows.map(row => row.replace('"ID":', '"ID":1')).join(''))
  const stop = new AbortController()
  stop.abort()
  const stopped = await load('b.ndjson', {}, stop.signal)
  t.match(stopped, { isComplete: false, text: /^0 rows read: 0 inserted\nstopped before the end of the file/ })
})

t.test('a large file is loaded without the log, which begins another time then', async t => {
  const rows = (name: string) => Array.from({ length: 300 }, (_, i) => `{"ID":${name}${i},"name":"N"}\n`).join('')
  const { load, people, config, cwd } = world(t, {
    'a.ndjson': rows('1'),
    'b.ndjson': rows('2'),
    'c.ndjson': rows('3'),
  })
  const logged = () => readdirSync(join(cwd, 'data', 'log')).map(name => readFileSync(join(cwd, 'data', 'log', name)))
  for (const [name, loggedBytes, isLogged] of [
    ['a', 1e6, true],
    ['b', 100, false],
    ['c', 1e6, true],
  ] as const) {
    t.match(await load(`${name}.ndjson`, { loggedBytes }), { isComplete: true, text: '300 rows read: 300 inserted\n' })
    const first = { a: 10, b: 20, c: 30 }[name]
    t.equal(
      logged().some(bytes => bytes.includes(`"__KEY":"${first}"`)),
      isLogged,
      name,
    )
    const problems: string[] = []
    for await (const problem of check(config)) problems.push(problem)
    t.same(problems, [], name)
  }
  t.equal((await people()).length, 900)
})

t.test('a load that ended before any row was known to be saved is only repeated with --restart', async t => {
  const { load, people, cwd } = world(t, { 'a.ndjson': '{"ID":1,"name":"A"}\n', 'a.csv': 'ID,nme\n1,A\n' })
  const { restore } = t.intercept(RowTarget.prototype, 'insert', { value: failing(1, RowTarget.prototype.insert) })
  await t.rejects(load('a.ndjson'), { message: /the disk is full/ })
  restore()
  await t.rejects(load('a.ndjson'), { message: /stopped after row 0;/ })
  t.match(await load('a.ndjson', { restart: true }), { isComplete: true, text: '1 row read: 1 inserted\n' })
  t.equal((await people()).length, 1)
  for (let i = 0; i < 2; i++) await t.rejects(load('a.csv'), { message: /column "nme"/ })
  t.notOk(readdirSync(join(cwd, 'data')).some(name => name.startsWith('load.')))
})

/** `insert`, but its call number `count` fails. */
function failing(count: number, insert: RowTarget['insert']): RowTarget['insert'] {
  let calls = 0
  return function (this: RowTarget, ...args) {
    if (++calls !== count) return insert.apply(this, args)
    return Promise.reject(new Error('the disk is full'))
  }
}
