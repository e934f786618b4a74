/** `node bench`: bundles the server and the benchmarks into `dist-bench/`, then runs them. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { installPackages } from '../test/support/runner/install-packages.mjs'

const root = new URL('../', import.meta.url)
const plugins = readdirSync(new URL('plugins/', root))
  .map(name => `plugins/${name}/index.ts`)
  .filter(file => existsSync(new URL(file, root)))
const processes = readdirSync(new URL('bench/processes/', root))
  .filter(file => file.endsWith('.child.ts'))
  .map(file => `bench/processes/${file}`)

// Downloads a binary, or compiles for a minute.
installPackages(new URL('bench/', root), { scripts: true })
const { status } = spawnSync(
  process.execPath,
  [
    'config/build.mjs',
    '--out',
    'dist-bench',
    '--only',
    'kernel/api.ts',
    'kernel/cli/main.ts',
    'bench/run.ts',
    ...processes,
    ...plugins,
  ],
  { cwd: fileURLToPath(root), stdio: 'inherit' },
)
if (status === 0) await import(new URL('dist-bench/bench/run.js', root).href)
else process.exitCode = status ?? 1
