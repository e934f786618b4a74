/** Installs programs whose databases are attached in tests: a package of npm, and files out of packages of Debian. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../support/runner/install-packages.mjs'

const DEBIAN = ['kea-admin', 'roundcube-core', 'zabbix-server-pgsql']
const folder = fileURLToPath(new URL('./packages/', import.meta.url))

installPackages(new URL('./', import.meta.url))
for (const name of DEBIAN) if (!existsSync(folder + name)) unpack(name)

/** Unpacks a package without installing it. Never fails: tests that need what is missing are skipped. */
function unpack(name) {
  const temporary = `${folder}${name}.new`
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { recursive: true })
  const run = (command, ...words) =>
    spawnSync(command, words, { cwd: temporary, stdio: ['ignore', 'ignore', 'pipe'], timeout: 180_000 })
  let found = run('apt-get', 'download', name)
  // A new machine has no lists.
  if (found.status !== 0 && !found.error && run('apt-get', 'update').status === 0)
    found = run('apt-get', 'download', name)
  const file = readdirSync(temporary).find(each => each.endsWith('.deb'))
  if (file) found = run('dpkg-deb', '-x', file, 'root')
  if (file && found.status === 0) {
    rmSync(folder + name, { recursive: true, force: true })
    renameSync(`${temporary}/root`, folder + name)
  } else
    console.error(`${name} of Debian was not fetched, and what needs it is skipped: ${found.error ?? found.stderr}`)
  rmSync(temporary, { recursive: true, force: true })
}
