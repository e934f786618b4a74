/** Checks the types of each project. The compiler's incremental state is kept in `node_modules/.cache` for the next run. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'))
const isRight = ['.', 'plugins/docs/page', 'plugins/explorer/page'].map(project => {
  const known = `node_modules/.cache/types/${project.replaceAll('/', '-')}.json`
  const words = [tsc, '--project', project, '--noEmit', '--incremental', '--tsBuildInfoFile', known]
  return spawnSync(process.execPath, words, { stdio: 'inherit' }).status === 0
})
process.exitCode = isRight.every(Boolean) ? 0 : 1
