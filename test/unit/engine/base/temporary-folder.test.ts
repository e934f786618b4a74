import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hasFileLocks } from '../../../../engine/base/file-lock.ts'
import { openTemporaryFolder } from '../../../../engine/base/temporary-folder.ts'
import { temporaryFolder } from '../../../support/base/temporary-folder.ts'

t.test('folders of processes that were killed are removed, and no others', { skip: !hasFileLocks() }, async t => {
  const parent = temporaryFolder(t)
  const make = (name: string, ...files: string[]): string => {
    mkdirSync(join(parent, name))
    for (const file of files) writeFileSync(join(parent, name, file), '')
    return join(parent, name)
  }
  // The kernel has released the lock.
  const killed = make('acme-killed', 'owner.lock', 'bundle.mjs')
  make('other-killed', 'owner.lock')
  make('acme-before-its-lock', 'owner.lock.new')
  make('acme-of-something-else', 'file')
  const target = make('target', 'owner.lock')
  symlinkSync(target, join(parent, 'acme-link'))
  const live = openTemporaryFolder('acme-live-', parent)
  const next = openTemporaryFolder('acme-', parent)
  t.notOk(existsSync(killed))
  t.same(
    new Set(readdirSync(parent)),
    new Set([
      ...['other-killed', 'acme-before-its-lock', 'acme-of-something-else', 'target', 'acme-link'],
      ...[live, next].map(({ path }) => path.slice(parent.length + 1)),
    ]),
  )
  live.close()
  next.close()
  t.notOk(existsSync(live.path))
  t.notOk(existsSync(next.path))
})
