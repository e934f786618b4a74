import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { outputUrl } from '../../../../engine/base/output-root.ts'
import { openEnvironment } from '../../../../engine/storage/environment.ts'
import { StoreLostError } from '../../../../engine/data/store-transaction.ts'
import { type OwnStore, openOwnStore } from '../../../../engine/storage/own-store.ts'
import type { OwnStoreOptions } from '../../../../engine/data/store-options.ts'
import { StoreOwner } from '../../../../engine/storage/store-owner.ts'
import { openTestStore, saveRequest } from '../../../support/engine/test-store.ts'

let tokens = 0
async function take(t: Test, path: string, lock: OwnStoreOptions['lock'] = {}): Promise<OwnStore> {
  const token = `test ${tokens++}`
  const store = await openOwnStore({ path, mapSizeBytes: 2 ** 28, token, lock: { waitMs: 0, ...lock } })
  let closing: Promise<void> | undefined
  const close = () => (closing ??= store.close())
  t.teardown(close)
  return { ...store, close }
}

/** Starts a process that holds the store. @param command command that starts Node.js */
async function hold(t: Test, path: string, { kind = 'file', renewMs = 5_000, command = [] as string[] } = {}) {
  const program = fileURLToPath(outputUrl('test/unit/engine/storage/holder.child.js'))
  const [file, ...args] = [...command, process.execPath, program, path, kind, String(renewMs)]
  const child: ChildProcess = spawn(file!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  t.teardown(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await Promise.race([
    once(child.stdout!, 'data'),
    ended.then(([code]) => Promise.reject(new Error(`it ended with ${code}`))),
  ])
  return { child, ended }
}

const IN_USE = { message: /is in use by process \d+.*two servers cannot write to one store/ }

t.test('a store can be taken only once, even within a process', async t => {
  const path = t.testdir({})
  const store = await take(t, path)
  await t.rejects(take(t, path), { message: new RegExp(`the store in ${path} is in use by process ${process.pid}`) })
  await store.close()
  await (await take(t, path)).close()
})

t.test('the folder of a new store is made by its owner', async t => {
  const path = join(t.testdir({}), 'of', 'a', 'store')
  await (await take(t, path)).close()
  t.ok(existsSync(join(path, 'server.lock')))
})

t.test('a start waits for another process, and is refused when that keeps the store', async t => {
  const path = t.testdir({})
  const { child } = await hold(t, path)
  await t.rejects(take(t, path), IN_USE)
  const notes: string[] = []
  // The thread sleeps while it waits, so the other process is ended by a third one.
  spawn(process.execPath, ['-e', `setTimeout(() => process.kill(${child.pid}, 'SIGKILL'), 1500)`])
  const store = await openOwnStore({ path, mapSizeBytes: 2 ** 28, token: 'after it', lock: { waitMs: 10_000 } }, text =>
    notes.push(text),
  )
  t.match(notes, [/in use by process \d+, since .*; waiting for it to end/])
  await store.close()
})

t.test('a store is in use by a process of another namespace too, whose id means nothing here', async t => {
  const unshare = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
  if (!works([...unshare, 'true'])) return t.pass('this system does not allow new namespaces')
  const path = t.testdir({})
  await hold(t, path, { command: unshare })
  await t.rejects(take(t, path), IN_USE)
})

t.test('a lease is kept while it is renewed, and ends with its process', async t => {
  const path = t.testdir({})
  const lease = { kind: 'lease', renewMs: 100 } as const
  const { child, ended } = await hold(t, path, lease)
  await t.rejects(take(t, path, lease), IN_USE, 'the process is visible')
  child.kill('SIGKILL')
  await ended
  const store = await take(t, path, lease)
  // As if the holder ran on another machine.
  const holder = store.environment.meta.get('holder') as object
  store.environment.meta.putSync('holder', { ...holder, machine: 'elsewhere' })
  const started = performance.now()
  const next = await openOwnStore({ path, mapSizeBytes: 2 ** 28, token: 'next', lock: { ...lease, waitMs: 0 } })
  t.ok(performance.now() - started >= 300, 'the start waits for three renewals')
  t.throws(() => store.owner.verify(), StoreLostError)
  await next.close()
})

t.test('a holder elsewhere that renews its lease keeps the store', async t => {
  const path = t.testdir({})
  await hold(t, path, { kind: 'lease', renewMs: 50 })
  const environment = openEnvironment({ path, mapSizeBytes: 2 ** 28 })
  environment.meta.putSync('holder', { ...(environment.meta.get('holder') as object), machine: 'elsewhere' })
  await environment.close()
  await t.rejects(take(t, path, { kind: 'lease', renewMs: 100 }), IN_USE)
})

t.test('a writer that has lost the store writes nothing more', async t => {
  const lost: unknown[] = []
  let owner: StoreOwner | undefined
  const store = openTestStore(t, {
    owner: { verify: () => owner?.verify() },
    writer: { onStoreLost: error => lost.push(error) },
  })
  owner = new StoreOwner(store.environment, 'mine')
  owner.take('file', { kind: 'file', waitMs: 0, renewMs: 0 })
  t.ok(store.one('City', { name: 'Oslo' }).entity)
  new StoreOwner(store.environment, 'other').take('file', { kind: 'file', waitMs: 0, renewMs: 0 })
  const requests = [saveRequest('City', { name: 'Rome' }), saveRequest('City', { name: 'Bern' })]
  for (const outcome of store.writer.run(requests)) {
    t.match(outcome, { httpStatus: 503, entries: [{ message: /another process writes to this store; nothing was/ }] })
  }
  t.ok(lost.length > 0)
  t.equal(store.all('City').length, 1)
})

t.test('missing data are detected, unless there never were any', async t => {
  const lostMessage = (what: string) => ({ message: new RegExp(`data\\.mdb ${what}: the data of this store are gone`) })
  const made = async (): Promise<string> => {
    const path = t.testdir({})
    const store = await take(t, path)
    store.environment.meta.putSync('format', 3)
    store.markMade()
    await store.close()
    return path
  }
  let path = await made()
  rmSync(join(path, 'data.mdb'))
  await t.rejects(take(t, path), lostMessage('is missing'), 'the lock file of LMDB says that there were data')
  rmSync(join(path, 'lock.mdb'))
  mkdirSync(join(path, 'files'))
  writeFileSync(join(path, 'files', 'A'.repeat(32)), 'x')
  await t.rejects(take(t, path), lostMessage('is missing'), 'so do files')
  t.ok(existsSync(join(path, 'files', 'A'.repeat(32))))
  rmSync(join(path, 'files'), { recursive: true })
  writeFileSync(join(path, 'memory-1.image'), 'x')
  await t.rejects(take(t, path), lostMessage('is missing'), 'and an image')
  path = await made()
  truncateSync(join(path, 'data.mdb'))
  await t.rejects(take(t, path), lostMessage('is empty'))
  path = t.testdir({})
  await (await take(t, path)).close()
  writeFileSync(join(path, 'server.lock'), '{}')
  writeFileSync(join(path, 'memory-1.image'), 'x')
  await t.rejects(take(t, path), lostMessage('holds no store'), 'an LMDB without a store in it')
})

t.test('a process that was killed while it made a store does not hinder the next one', async t => {
  for (const data of ['', 'not yet whole']) {
    const path = t.testdir({ 'data.mdb': data, 'lock.mdb': 'x', 'server.lock': '{"isNew":true}' })
    const store = await take(t, path)
    t.equal(store.environment.meta.get('format'), undefined)
    store.markMade()
    t.notMatch(readFileSync(join(path, 'server.lock'), 'utf8'), /isNew/)
    await store.close()
  }
})

function works(command: readonly string[]): boolean {
  try {
    execFileSync(command[0]!, command.slice(1), { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
