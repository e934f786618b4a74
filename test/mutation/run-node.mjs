import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { texts } from './choose.mjs'

/** A folder that is removed when this process ends. */
export const scratch = mkdtempSync(join(tmpdir(), 'tesser-mutation-'))
/** Seed of the random worlds of property tests, so that a mutant killed by one is killed again. `npm test` uses this world too. */
const SEED = '20200229'
const running = new Set()
process.on('exit', () => {
  for (const { pid } of running) endGroup(pid)
  rmSync(scratch, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130))

/** Builds the product and the tests, with a switch for each mutant; its number is its index. */
export async function buildWith(mutants, out, isTraced) {
  const list = join(scratch, 'mutants.json')
  const numbered = mutants.map((mutant, number) => ({ ...mutant, number }))
  writeFileSync(list, JSON.stringify({ mutants: numbered, texts: Object.fromEntries(texts), isTraced }))
  const args = ['config/build.mjs', '--tests', '--out', out, '--with', 'test/mutation/with-mutants.mjs']
  const { status, output } = await runNode(args, { TESSER_MUTANTS: list })
  if (status !== 0) throw new Error(output)
}

/** Runs Node.js to its end or for at most `timeoutMs`, after which `status` is null. */
export function runNode(args, env = {}, timeoutMs = 600_000) {
  return new Promise(resolve => {
    const child = spawn(process.execPath, ['--import=./test/support/runner/without-tap-hooks.mjs', ...args], {
      env: { ...process.env, TAP_BAIL: '1', TAP_TIMEOUT: '400', TESSER_TEST_SEED: SEED, TMPDIR: scratch, ...env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    running.add(child)
    let output = ''
    child.stderr.on('data', data => (output = (output + data).slice(-4000)))
    const timer = setTimeout(endGroup, timeoutMs, child.pid)
    child.on('exit', status => {
      clearTimeout(timer)
      endGroup(child.pid)
      running.delete(child)
      resolve({ status, output })
    })
  })
}

/** Ends the whole group: a test may have started processes of its own. */
function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The whole group has ended already.
  }
}

/** Processes all items, `jobs` at once. */
export async function inTurns(items, jobs, work) {
  const queue = [...items]
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: jobs }, worker))
}
