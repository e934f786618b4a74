/** The second try of a test file that fails: `test/second-try.mjs`, which `.ci/run` ends with. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t from 'tap'

const passing = `import t from 'tap'
t.pass('always')
t.pass('always too')
`
const failing = `import t from 'tap'
t.test('outer', async t => t.test('inner', async t => t.equal(1, 2, 'one is two')))
`
const failingOnce = `import { existsSync, writeFileSync } from 'node:fs'
import t from 'tap'
const note = new URL('note', import.meta.url)
const isSecond = existsSync(note)
writeFileSync(note, '')
t.ok(isSecond, 'it is the second try')
`
const leaving = `import { spawn } from 'node:child_process'
import t from 'tap'
t.test('leaves a process', async () => {
  const { stdout } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: ['ignore', 'pipe', 'inherit'] })
  stdout.resume()
  throw new Error('too early')
})
`
const ending = `import t from 'tap'
t.test('waits', async () => {
  setTimeout(() => { throw new TypeError('from outside') })
  await new Promise(() => {})
})
`
/** Environment without that of tap, so that a test file is run on its own and not as a child of this test. */
const env = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('TAP'))),
  NODE_OPTIONS: '--import=./test/support/runner/without-tap-hooks.mjs',
}
const run = (...args: string[]) => spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 120_000 })

/** Runs files as tap does, and writes what it would print. */
function firstTry(folder: string, files: readonly string[]): { output: string; status: number } {
  const counts = { total: 0, pass: 0, fail: 0 }
  let status = 0
  const sections = files.map(name => {
    const path = `${relative('.', folder)}/${name}`
    const { stdout, status: code } = run(path)
    const summary = /^# \{.*/m.exec(stdout)?.[0] ?? '# { total: 1, fail: 1 }'
    for (const count of ['total', 'pass', 'fail'] as const) {
      counts[count] += Number(new RegExp(`\\b${count}: (\\d+)`).exec(summary)?.[1] ?? 0)
    }
    if (code !== 0) status = 1
    return `# Subtest: ${path}\n${stdout.replace(/^(?=.)/gm, '    ')}${code === 0 ? '' : 'not '}ok 1 - ${path} # time=1ms\n`
  })
  return {
    output: `TAP version 14\n${sections.join('\n')}\n# { total: ${counts.total}, pass: ${counts.pass}, fail: ${counts.fail} }\n`,
    status,
  }
}

function written(folder: string, output: string): string {
  const path = join(folder, 'output')
  writeFileSync(path, output)
  return path
}

const cases: [name: string, files: Record<string, string>, status: number, lines: RegExp[]][] = [
  ['all pass', { 'a.mjs': passing }, 0, [/^2 passed, 0 failed$/]],
  [
    'one fails once',
    { 'a.mjs': passing, 'b.mjs': failingOnce },
    0,
    [/b\.mjs failed at first:/, /not ok 1 - it is the second try/, /^flaky: \S+b\.mjs$/, /^3 passed, 0 failed$/],
  ],
  [
    'one fails twice',
    { 'a.mjs': passing, 'b.mjs': failing },
    1,
    [/b\.mjs failed:/, /^ *outer > inner$/, /not ok 1 - one is two/, /^2 passed, 1 failed$/],
  ],
  ['one fails and leaves a process', { 'a.mjs': leaving }, 1, [/too early/, /^0 passed, 1 failed$/]],
  [
    'one ends by an error that no test catches',
    { 'a.mjs': ending },
    1,
    [/not ok 1 - test unfinished/, /^ *TypeError: from outside$/, /^0 passed, 1 failed$/],
  ],
  ['one is not a program', { 'a.mjs': '(' }, 1, [/a\.mjs failed:/, /^0 passed, 1 failed$/]],
]
for (const [name, files, status, lines] of cases) {
  t.test(name, async t => {
    const folder = t.testdir(files)
    const first = firstTry(folder, Object.keys(files))
    const second = run('test/second-try.mjs', written(folder, first.output), String(first.status))
    t.equal(second.status, status, second.stdout + second.stderr)
    const shown = second.stdout.trimEnd().split('\n')
    for (const line of lines) {
      t.ok(
        shown.some(each => line.test(each)),
        `${line}`,
      )
    }
    t.match(shown.at(-1), lines.at(-1)!, 'in the last line')
  })
}

t.test('tests that never began', async t => {
  const { status, stdout } = run('test/second-try.mjs', written(t.testdir({}), 'a build that failed\n'), '1')
  t.equal(status, 1)
  t.match(stdout, /a build that failed\n.*\n0 passed, 1 failed\n$/s)
})
