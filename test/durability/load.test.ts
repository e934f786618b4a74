/** A load that is killed at any moment and resumed saves each row once, also rows by which no earlier one can be recognised. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadConfig } from '../../config/load-config.ts'
import { bytesOf, openEngine } from '../../engine/index.ts'
import { engineOptions } from '../../kernel/main.ts'
import { randomOf } from '../support/base/random.ts'
import { isLong, seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { decode } from '../support/engine/read-request.ts'

t.setTimeout(timeoutMs)
const random = randomOf(seedOf(61))
/** More than are inserted in one commit. */
const ROWS = 60_000
/** Key of a row in the second one, to which rows of the first refer. */
const LATER = 55_000
const KILLS = isLong ? 40 : 8

const model = {
  name: 'test',
  dataClasses: {
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long', autoFill: 'increment' },
        position: { type: 'long' },
        code: { type: 'string', unique: true },
        text: { type: 'string', indexed: true, maxLength: 12 },
        other: { type: 'long' },
        link: { kind: 'relatedEntity', type: 'Item', foreignKey: 'other' },
      },
    },
  },
}

/** Rows without a key: most are inserted as they are encoded, some are saved one by one, kept for later or rejected. */
function row(position: number): { fields: string; isWrong: boolean } {
  const kind = position % 50
  const isWrong = kind === 7
  const code = kind < 5 ? `c${position}` : ''
  const other = kind === 11 ? '1' : kind === 13 && position < ROWS / 2 ? String(LATER) : ''
  return { fields: `${position},${code},${isWrong ? 'a text that is too long' : 'text'},${other}`, isWrong }
}

t.test('each row is saved once', async t => {
  const cwd = t.testdir({ 'model.json': JSON.stringify(model) })
  const rows = Array.from({ length: ROWS }, (_, position) => row(position))
  writeFileSync(join(cwd, 'rows.csv'), ['position,code,text,other', ...rows.map(({ fields }) => fields)].join('\n'))
  const flags = ['--model', 'model.json', '--data', 'store']
  const program = fileURLToPath(new URL('../../kernel/cli/main.js', import.meta.url))
  const args = (resume: string) => [program, 'load', 'rows.csv', '--into', 'Item', ...flags, resume]
  const journal = join(cwd, 'store/load.Item.rows.csv.ndjson')
  const written = (): number => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').length : 0)
  let kills = 0
  // The journal is there from the first commit to the last one: without it a load that was killed is complete.
  for (; kills < KILLS && (kills === 0 || existsSync(journal)); kills++) {
    const before = written()
    const process = spawn('node', args(before > 0 ? '--resume' : '--restart'), { cwd, stdio: 'ignore' })
    const ended = once(process, 'exit')
    let hasEnded = false
    void ended.then(() => {
      hasEnded = true
    })
    while (!hasEnded && written() === before) await sleep(2)
    await sleep(random.integer(0, 1_500))
    process.kill('SIGKILL')
    const [, signal] = await ended
    // It was complete before.
    if (signal === null) break
  }
  if (existsSync(journal)) {
    const { status, stderr } = spawnSync('node', args('--resume'), { cwd, encoding: 'utf8' })
    // Some rows are rejected.
    t.equal(status, 1, stderr)
  }
  const config = loadConfig({ cwd, env: {}, flags: { model: 'model.json', data: 'store' } })
  const engine = await openEngine({ ...engineOptions(config), memoryBytes: 0 })
  try {
    const output = { form: 'array' } as const
    const source = { kind: 'all' } as const
    const body = await engine.queries.read({
      dataClass: 'Item',
      source,
      skip: 0,
      top: Number.POSITIVE_INFINITY,
      output,
    })
    const found = decode(await bytesOf(body)) as { position: number }[]
    const times = Array.from({ length: ROWS }, () => 0)
    for (const { position } of found) times[position]! += 1
    const wrong = rows.flatMap(({ isWrong }, position) => {
      return times[position] === (isWrong ? 0 : 1) ? [] : [`row ${position}: ${times[position]} times`]
    })
    t.same([wrong.length, wrong.slice(0, 3)], [0, []], `${kills} kills`)
    const rejected = readFileSync(join(cwd, 'rows.csv.errors.csv'), 'utf8').trim().split('\n').slice(1)
    t.same(
      rejected.map(line => Number.parseInt(line, 10) - 2).sort((a, b) => a - b),
      rows.flatMap(({ isWrong }, position) => (isWrong ? [position] : [])),
      'each rejected row is once in the file of errors',
    )
    t.equal(engine.records.get('load/Item.rows.csv'), undefined)
  } finally {
    await engine.close()
  }
  const { status, stdout } = spawnSync('node', [program, 'check', ...flags], { cwd, encoding: 'utf8' })
  t.equal(status, 0, stdout)
})
