/**
 * Installs and tests the last commit on several versions of Node.js, one after the other, each in a separate clean clone,
 * because packages with native code are installed for each version.
 *
 *   node test/nodes.mjs [20 22 24 26]
 *
 * npm's package `node` provides each version. Ends with a table. Exit code 1 if something failed on one of them.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

const VERSIONS = ['20', '22', '24', '26']
const COLUMNS = ['Node.js', 'minutes', 'result', 'transports that do not load']

const wanted = process.argv.slice(2)
const rows = (wanted.length > 0 ? wanted : VERSIONS).map(version => {
  const folder = mkdtempSync(join(tmpdir(), `tesser-node-${version}-`))
  const startedAt = Date.now()
  try {
    return testOn(version, folder, startedAt)
  } catch (error) {
    return rowOf(version, startedAt, error.message)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
const table = [COLUMNS, ...rows.map(({ cells }) => cells)]
const widths = COLUMNS.map((_, column) => Math.max(...table.map(row => row[column].length)))
for (const row of table)
  console.log(
    row
      .map((cell, i) => cell.padEnd(widths[i]))
      .join('  ')
      .trimEnd(),
  )
process.exitCode = rows.every(({ hasPassed }) => hasPassed) ? 0 : 1

/** @returns {{ cells: string[], hasPassed: boolean }} a row of the table */
function testOn(version, folder, startedAt) {
  const node = run(['npx', '-y', '-p', `node@${version}`, 'node', '-p', 'process.execPath']).trim()
  const env = {
    ...process.env,
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
    CI: 'true',
    TESSER_TEST_NODES: '1',
  }
  const project = join(folder, 'project')
  const output = join(folder, 'output')
  run(['git', 'clone', '-q', '--no-hardlinks', '.', project])
  const install = spawnSync('npm', ['ci'], { cwd: project, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const tests = spawnSync('bash', ['-c', `npm test -- --reporter=tap >${output} 2>&1`], { cwd: project, env })
  const tries = spawnSync('node', ['test/second-try.mjs', output, String(tests.status)], {
    ...{ cwd: project, env, encoding: 'utf8' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = tries.stdout.trimEnd().split('\n')
  console.log(`Node.js ${version}: ${lines.join('\n')}`)
  const missing = /^tests run without the transports .*: (.*)$/m.exec(readFileSync(output, 'utf8'))?.[1] ?? ''
  const result = lines.filter(line => /^flaky: |^\d+ passed/.test(line)).join('; ')
  const hasPassed = install.status === 0 && tries.status === 0
  return rowOf(run([node, '--version']).trim(), startedAt, result, missing, hasPassed)
}

function rowOf(version, startedAt, result, missing = '', hasPassed = false) {
  return { cells: [version, ((Date.now() - startedAt) / 60_000).toFixed(1), result, missing], hasPassed }
}

function run([command, ...args]) {
  const { status, error, stdout } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (error) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
  return stdout
}
