import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../../../engine/base/output-root.ts'
import { inspectStore } from '../../../../engine/storage/inspect/inspect-store.ts'
import { type CompactOptions, compactStore } from '../../../../engine/storage/compact-store.ts'
import { openEnvironment } from '../../../../engine/storage/environment.ts'
import { openOwnStore } from '../../../../engine/storage/own-store.ts'
import { lockDataFile, StoreLock } from '../../../../engine/storage/store-lock.ts'
import { ISO, openTestStore } from '../../../support/engine/test-store.ts'

const MAP = { mapSizeBytes: 2 ** 28 }
const model = {
  name: 'compacted',
  dataClasses: {
    Thing: { key: 'name', attributes: { name: { type: 'string' }, text: { type: 'string', indexed: true } } },
  },
}

/** Data file of {@link fill}, made once. */
let filled: Buffer | undefined

/** A store with many free pages, and values larger than a page. */
async function fill(t: Test, path: string): Promise<void> {
  if (filled) return writeFileSync(join(path, 'data.mdb'), filled)
  const store = openTestStore(t, { path, model })
  const things = Array.from({ length: 900 }, (_, i) => ({
    name: `${i}`,
    text: `${i} ${'x'.repeat(i % 9 ? 500 : 9_000)}`,
  }))
  const rowIds = store.save('Thing', things).entities.map(({ rowId }) => rowId!)
  store.delete('Thing', rowIds.slice(0, 800))
  await store.close()
  filled = readFileSync(join(path, 'data.mdb'))
}

const compact = (path: string, options: Partial<CompactOptions> = {}) =>
  compactStore({ path, ...MAP, lock: { waitMs: 0 }, ...options })

async function contentOf(t: Test, path: string): Promise<unknown> {
  const store = openTestStore(t, { path, model })
  const content = [store.all('Thing'), store.problems(), store.environment.meta.get('storeId')]
  await store.close()
  return content
}

const sizeOf = (path: string): number => statSync(join(path, 'data.mdb')).size

async function problemsOf(path: string): Promise<string[]> {
  const problems: string[] = []
  for await (const { text } of inspectStore({ path, ...MAP, model: undefined, wire: ISO, allowLoss: false })) {
    problems.push(text)
  }
  return problems
}

t.test('a compacted store has the same content in fewer bytes', async t => {
  const path = t.testdir({})
  await fill(t, path)
  chmodSync(join(path, 'data.mdb'), 0o640)
  const [content, before] = [await contentOf(t, path), sizeOf(path)]
  const steps = new Set<string>()
  const result = await compact(path, { onProgress: ({ what }) => steps.add(what) })
  t.strictSame(result, { before, after: sizeOf(path) })
  t.ok(result.after < before / 2, `${before} bytes became ${result.after}`)
  t.strictSame([...steps], ['checking', 'copying', 'checking the copy', 'replacing'])
  t.equal(statSync(join(path, 'data.mdb')).mode & 0o777, 0o640)
  t.notOk(existsSync(join(path, 'compacted')))
  t.strictSame(await contentOf(t, path), content)
  t.strictSame(await problemsOf(path), [])

  const again = await compact(path)
  t.ok(again.after <= again.before)
  t.strictSame(await contentOf(t, path), content)

  const store = openTestStore(t, { path, model })
  t.ok(store.one('Thing', { name: 'new', text: 'of it' }).entity, 'it accepts new entities')
  t.strictSame(store.problems(), [])
})

t.test('a compaction that is ended at any moment leaves the old file or the new one', async t => {
  const full = t.testdir({})
  await fill(t, full)
  const content = await contentOf(t, full)
  const before = sizeOf(full)
  const child = fileURLToPath(outputUrl('test/unit/engine/storage/compact.child.js'))
  const moments = [
    ['copying 0', 0],
    ['copying 0', 1],
    ['checking the copy 0', 0],
    ['replacing 0', 0],
    ['replacing 1', 0],
  ] as const
  for (const [step, delayMs] of moments) {
    const path = join(full, `${step} ${delayMs}`)
    mkdirSync(path)
    copyFileSync(join(full, 'data.mdb'), join(path, 'data.mdb'))
    const [, signal] = await once(
      spawn(process.execPath, [child, path, step, `${delayMs}`], { stdio: 'inherit' }),
      'exit',
    )
    if (delayMs === 0) t.equal(signal, 'SIGKILL', step)
    if (step === 'replacing 1') t.ok(sizeOf(path) < before)
    else if (delayMs === 0) t.equal(sizeOf(path), before)
    const store = await openOwnStore({ path, ...MAP, token: 'next', lock: { waitMs: 0 } })
    t.notOk(existsSync(join(path, 'compacted')), 'the next start removes what is left of the copy')
    await store.close()
    t.strictSame(await contentOf(t, path), content, `${step} ${delayMs}`)
  }
})

t.test('a store that is in use or does not exist is not compacted', async t => {
  const path = t.testdir({ none: {} })
  await fill(t, path)
  const before = sizeOf(path)
  const server = await openOwnStore({ path, ...MAP, token: 'server', lock: { waitMs: 0 } })
  await t.rejects(compact(path), { message: /is in use by process \d+/ })
  await server.close()
  const reader = lockDataFile(path, { shared: true })!
  await t.rejects(compact(path), { message: /is being checked/ })
  reader.release()
  await t.rejects(compact(path, { lock: { kind: 'lease' } }), { message: /held by a lease cannot be compacted/ })
  const environment = openEnvironment({ path, ...MAP })
  environment.meta.putSync('holder', { token: 'elsewhere', renewals: 1 })
  await environment.close()
  await t.rejects(compact(path), { message: /is held by a lease; stop its server/ })
  t.equal(sizeOf(path), before)
  await t.rejects(compact(join(path, 'none')), { message: /there is no store in .*none/ })
  await t.rejects(compact(join(path, 'nowhere')), { message: /there is no store in .*nowhere/ })
  t.notOk(existsSync(join(path, 'nowhere')))
})

t.test('a damaged or linked file stays as it is', async t => {
  const path = t.testdir({ damaged: {}, linked: {} })
  await fill(t, path)
  const damaged = join(path, 'damaged', 'data.mdb')
  cpSync(join(path, 'data.mdb'), damaged)
  const { size } = statSync(damaged)
  truncateSync(damaged, size - 4096 * 20)
  await t.rejects(compact(join(path, 'damaged')), { name: 'DamagedStoreError' })
  t.equal(statSync(damaged).size, size - 4096 * 20)
  symlinkSync(join(path, 'data.mdb'), join(path, 'linked', 'data.mdb'))
  await t.rejects(compact(join(path, 'linked')), { message: /is a symbolic link/ })
})

t.test('nothing can open the store while its file is replaced', async t => {
  const path = t.testdir({})
  await fill(t, path)
  let seen: unknown[] = []
  await compact(path, {
    onProgress({ what, done }) {
      if (what !== 'replacing' || done !== 0) return
      t.throws(() => StoreLock.take(path, { kind: 'file', waitMs: 0, renewMs: 0 }), { message: /is in use/ })
      seen = [lockDataFile(path, { shared: true })]
    },
  })
  t.strictSame(seen, [undefined], 'neither by a check nor by a server')
  const lock = StoreLock.take(path, { kind: 'file', waitMs: 0, renewMs: 0 })
  lock.release()
})
