import { spawn } from 'node:child_process'

/**
 * Runs a test file of a build alone, as tap would.
 * @param {string} file
 * @param {{ env?: NodeJS.ProcessEnv, endsAt?: number }} options `endsAt`: time, as of `Date.now()`, at which the file is ended
 * @returns {Promise<{ status: number | string | null, isOver: boolean, output: string }>} `isOver`: it was ended before it was done
 */
export function runTestFile(file, { env = {}, endsAt } = {}) {
  const child = spawn(process.execPath, [file], {
    // Not as an argument, which threads would receive too.
    env: {
      ...process.env,
      NODE_OPTIONS: '--import=./test/support/runner/without-tap-hooks.mjs',
      TAP_TIMEOUT: '3600',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that servers that it has started end with it.
    detached: true,
  })
  let isOver = false
  const endGroup = () => {
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group has ended already.
    }
  }
  const end = () => {
    isOver = true
    endGroup()
  }
  const timer = endsAt === undefined ? undefined : setTimeout(end, Math.max(0, endsAt - Date.now()))
  child.on('exit', endGroup)
  const pieces = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', data => pieces.push(data))
  return new Promise(resolve =>
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      resolve({ status: code ?? signal, isOver, output: Buffer.concat(pieces).toString() })
    }),
  )
}
