import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Installs the packages of a folder with its own lock file: once, and again when the lock file has changed. Never fails: tests
 * that need missing packages are skipped.
 * @param folder URL with a slash at the end
 * @param options `more`: further steps, called with a function that runs a command in the folder; `scripts`: true if packages
 *   may run scripts, which compile native code
 * @returns {boolean} true if they are installed
 */
export function installPackages(folder, { more = () => {}, scripts = false } = {}) {
  const here = path => fileURLToPath(new URL(path, folder))
  const installed = here('node_modules/installed-lock.json')
  const lock = readFileSync(here('package-lock.json'), 'utf8')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return true
  const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
  try {
    run([...npm, 'ci', ...(scripts ? [] : ['--ignore-scripts']), '--no-audit', '--no-fund'])
    more(run)
    writeFileSync(installed, lock)
    return true
  } catch (error) {
    console.error(`The packages of ${here('.')} were not installed, and what needs them is skipped: ${error.message}`)
    return false
  }

  function run([command, ...words], env = process.env) {
    const { status, error, signal } = spawnSync(command, words, {
      cwd: here('.'),
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: scripts ? 900_000 : 180_000,
    })
    if (error) throw error
    if (status !== 0) throw new Error(`${command} ${words.join(' ')} ended with ${signal ?? status}`)
  }
}
