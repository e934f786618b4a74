/** Damaged progress of an interrupted load: nothing is loaded twice, and nothing is left out. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { RowTarget } from '../../../engine/row-target.ts'
import { world } from './load-people.ts'

t.setTimeout(60_000)

const ROWS = [1, 2, 3].map(id => `{"ID":${id},"name":"N"}\n`).join('')

/** A load whose only request is saved, but its outcome does not arrive. */
async function interrupted(t: Test, name = 'a.ndjson') {
  const { load, people, cwd } = world(t, { [name]: ROWS, mine: 'mine' })
  const insert = RowTarget.prototype.insert
  const { restore } = t.intercept(RowTarget.prototype, 'insert', {
    async value(this: RowTarget, ...args: Parameters<typeof insert>) {
      await insert.apply(this, args)
      throw new Error('the disk is full')
    },
  })
  await t.rejects(load(name), { message: /the disk is full/ })
  restore()
  const journal = readdirSync(join(cwd, 'data')).find(each => each.startsWith('load.'))!
  return { load, people, cwd, path: join(cwd, 'data', journal) }
}

const SETTLED = { position: 3, errorBytes: 0, kept: [], tried: [] }
const REQUEST = { id: 'x', rows: [[0, 2]] }

t.test('a journal with a damaged line', async t => {
  const { load, people, path } = await interrupted(t)
  const [head, request] = readFileSync(path, 'utf8').split('\n') as [string, string]
  const damage: readonly [string, string | number][] = [
    ['', 1],
    ['\0'.repeat(50), 1],
    ['5', 1],
    ['{"size":1}', 1],
    ...[
      ...[[[0, 1e12]], [[0, 4e9]], [[2, 0]], [[-1, 0]], [[0.5, 1]], [0], [[0, 1, 2]], 5, undefined].map(rows => ({
        ...REQUEST,
        rows,
      })),
      { ...REQUEST, id: 5 },
      ...[1e300, -1, 0.5, 'a', null].map(position => ({ ...SETTLED, position })),
      { ...SETTLED, errorBytes: -5 },
      { ...SETTLED, errorBytes: 'a' },
      { ...SETTLED, kept: undefined },
      { ...SETTLED, tried: [-1] },
      { left: 5 },
      { left: [null] },
      { proposed: 5 },
      { proposed: { name: 5 } },
      {},
      [],
      null,
    ].map((entry): [string, number] => [`${head}\n${request}\n${JSON.stringify(entry)}\n`, 3]),
    [`${head}\n${request.slice(1)}\n${JSON.stringify(SETTLED)}\n`, 2],
    [`${head}\n`, 'the store has other rows of this load'],
    [`${head}\n${request.slice(0, -5)}`, 'the store has other rows of this load'],
    [`${head}\n${JSON.stringify(REQUEST)}\n`, 'the store has other rows of this load'],
    [`${head}\n${request}\n{"left":[]}\n${JSON.stringify({ ...SETTLED, position: 4 })}\n`, 'it ends after row 4, and '],
  ]
  for (const [text, place] of damage) {
    writeFileSync(path, text)
    const reason = typeof place === 'number' ? `line ${place} is damaged; --restart begins from the first row` : place
    await t.rejects(
      load('a.ndjson', { resume: true }),
      { message: `load.Person.a.ndjson.ndjson cannot be used: ${reason}` },
      text,
    )
    if (typeof place === 'number') await t.rejects(load('a.ndjson'), { message: reason }, text)
  }
  t.equal((await people()).length, 3)
  // A line of a process that was ended while writing, before and after the entries of another one.
  writeFileSync(path, `${head}\n${request}\n{"left":[\n${JSON.stringify({ left: [] })}\n\0\0\0`)
  t.match(await load('a.ndjson', { resume: true }), { isComplete: true, text: /^continuing after row 3\n0 rows read/ })
  t.equal((await people()).length, 3)
})

t.test('a journal that belongs to another state of the store', async t => {
  const { load, people, path, cwd } = await interrupted(t)
  const text = readFileSync(path, 'utf8')
  renameSync(join(cwd, 'data'), join(cwd, 'old'))
  mkdirSync(join(cwd, 'data'))
  writeFileSync(path, `${text}{"left":[]}\n`)
  await t.rejects(load('a.ndjson', { resume: true }), { message: /the store has other rows of this load; --restart/ })
  t.match(await load('a.ndjson', { restart: true }), { isComplete: true })
  t.equal((await people()).length, 3)
})

t.test('a folder and a link in place of the journal', async t => {
  const { load, path, cwd } = await interrupted(t)
  rmSync(path)
  mkdirSync(path)
  for (const resume of [true, false])
    await t.rejects(load('a.ndjson', { resume }), {
      message: /^the progress of an interrupted load in .* cannot be read: /,
    })
  rmSync(path, { recursive: true })
  symlinkSync(join(cwd, 'mine'), path)
  t.match(await load('a.ndjson', { restart: true, update: true }), { isComplete: true })
  t.equal(readFileSync(join(cwd, 'mine'), 'utf8'), 'mine')
})

t.test('the longest name of a file', async t => {
  const name = `${'a'.repeat(248)}.ndjson`
  const { load, people } = await interrupted(t, name)
  t.match(await load(name, { resume: true }), { isComplete: true })
  t.equal((await people()).length, 3)
})
