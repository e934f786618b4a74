import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { hasFileLocks } from '../../engine/base/file-lock.ts'
import { outputUrl } from '../../engine/base/output-root.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'

const main = fileURLToPath(outputUrl('kernel/cli/main.js'))

/** `tesser start` with a plugin in TypeScript, when it listens. */
async function start(t: Test, cwd: string, TMPDIR: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, 'start', '--port', '0'], {
    cwd,
    env: { PATH: process.env.PATH, TMPDIR },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout!.on('data', chunk => (output += chunk))
  while (!output.includes('"msg":"listening"')) await once(child.stdout!, 'data')
  return child
}

t.test(
  'a signal removes the bundles of a server; after kill -9, the next start does',
  { skip: !hasFileLocks() },
  async t => {
    const folder = t.testdir({
      'tesser.config.json': JSON.stringify({
        ...{ model: 'model.json', plugins: ['./index.ts'], functions: { threads: 1 }, pool: { threads: 1 } },
        storage: { mapSizeBytes: '64 MiB', memoryBytes: 0 },
      }),
      'model.json': JSON.stringify(company.model),
      'index.ts': `import { definePlugin } from 'tesser'
      export default definePlugin({ name: 'acme', kernel: '^1.0.0', register() {} })`,
    })
    const temporary = temporaryFolder(t)
    const bundles = () => readdirSync(temporary).filter(name => name.startsWith('tesser-plugins-'))
    const killed = await start(t, folder, temporary)
    const [first, ...others] = bundles()
    t.same(others, [])
    killed.kill('SIGKILL')
    await once(killed, 'exit')
    t.same(bundles(), [first])
    const next = await start(t, folder, temporary)
    t.equal(bundles().length, 1)
    t.not(bundles()[0], first)
    next.kill('SIGTERM')
    await once(next, 'exit')
    t.same(bundles(), [])
  },
)
