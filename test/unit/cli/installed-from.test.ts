import { join } from 'node:path'
import t from 'tap'
import { installedFrom } from '../../../kernel/cli/installed-from.ts'
import packageJson from '../../../package.json' with { type: 'json' }

/** A folder with an installation of Tesser, and the dependency that a package beside it gets. */
function dependency(root: string, resolved: string | undefined, files: Record<string, string> = {}) {
  const lock = { packages: { 'node_modules/tesser': { version: packageJson.version, ...(resolved && { resolved }) } } }
  const folder = t.testdir({
    [root]: { ...files, node_modules: { '.package-lock.json': JSON.stringify(lock), tesser: {} } },
  })
  return installedFrom(join(folder, root, 'node_modules/tesser'), join(folder, 'my-app'))
}

t.test('a new package depends on what npm installed', async t => {
  t.equal(dependency('a', 'https://npm.example/tesser/-/tesser-1.1.0.tgz'), `^${packageJson.version}`)
  t.equal(dependency('a', 'file:../tesser.tgz', {}), 'file:../a/node_modules/tesser', 'the file is gone')
  t.equal(dependency('a', 'file:tesser.tgz', { 'tesser.tgz': '' }), 'file:../a/tesser.tgz')
  t.equal(dependency('a', 'https://example.com/tesser.tgz'), 'https://example.com/tesser.tgz')
  t.equal(dependency('a', undefined), 'file:../a/node_modules/tesser')
  t.equal(installedFrom('/src/tesser/', '/home/ada/my-app'), 'file:../../../src/tesser', 'a checkout')
})
