/** Backups in a bucket that others use: killed processes, several at a time, and refusals. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { makeBackup } from '../../engine/storage/backup/make-backup.ts'
import { S3Storage } from '../../engine/storage/backup/s3/s3-storage.ts'
import { randomOf } from '../support/base/random.ts'
import { seedOf, timeoutMs } from '../support/runner/rounds.ts'
import { until } from '../support/base/until.ts'
import { type Fault, S3Server } from '../support/services/s3/s3-server.ts'
import { differences } from '../support/base/differences.ts'
import { openLogged } from '../support/engine/logged-store.ts'
import { KEEP_ALL, MAP, PREFIX, TIMING, World } from './backup-s3-world.ts'

t.setTimeout(timeoutMs)

t.test('a killed process leaves nothing behind', async t => {
  const random = randomOf(seedOf(64))
  const world = await World.make(t)
  const { server } = world
  const store = await openLogged(world.path, KEEP_ALL)
  store.write(random, 200)
  await world.backUp()
  const content = await world.content()
  const program = fileURLToPath(new URL('backup-s3.child.js', import.meta.url))
  const kill = async (is: (line: string) => boolean): Promise<void> => {
    const child = fork(program, [world.path, JSON.stringify(world.options())], {
      env: { ...process.env, ...server.env },
    })
    server.fault = (_, line) => {
      if (!is(line)) return undefined
      child.kill('SIGKILL')
      return 'silent'
    }
    t.same(await once(child, 'exit'), [null, 'SIGKILL'])
    server.fault = () => undefined
  }
  const isLastPart = (line: string): boolean =>
    line.endsWith('?partNumber') && [...server.uploads.values()].some(({ parts }) => parts.size > 0)
  for (const [is, hasUpload] of [
    [isLastPart, true],
    [(line: string) => line.startsWith('PUT') && line.endsWith('/blobs.ndjson'), false],
  ] as const) {
    await kill(is)
    t.equal(server.uploads.size > 0, hasUpload)
    t.ok(world.left().length > 1)
    // Another machine cannot know that it was killed.
    await t.rejects(world.backUp({}, 'elsewhere'), {
      message: /^another process, [\w.-]+ \(process \d+, since .*Z\), changes the backups in s3:/,
    })
    await world.restore()
    t.equal((await world.backUp({ full: true })).kind, 'full')
    t.same(world.left(), [])
    await world.restore()
    t.same(differences(content, await world.restored()), [])
  }
  await kill(isLastPart)
  server.ahead = 59 * 60_000
  await t.rejects(world.backUp({}, 'elsewhere'), { message: /^another process/ })
  server.ahead = 61 * 60_000
  await world.backUp({}, 'elsewhere')
  t.same(world.left('elsewhere'), [])
  await store.close()
})

t.test('one process at a time changes a place', async t => {
  const random = randomOf(seedOf(65))
  const world = await World.make(t)
  const { server } = world
  const store = await openLogged(world.path, KEEP_ALL)
  store.write(random, 10)
  const held = await world.storage('one').lock()
  await t.rejects(world.storage('one').lock(), {
    message: /^another process of this machine makes a backup of this store/,
  })
  await held.release()
  let holders = 0
  let most = 0
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, async (_, i) => {
      const lock = await world.storage(`machine ${i}`).lock()
      most = Math.max(most, ++holders)
      await new Promise(resolve => setTimeout(resolve, 1))
      holders--
      await lock.release()
    }),
  )
  t.ok(most <= 1)
  for (const outcome of outcomes) if (outcome.status === 'rejected') t.match(outcome.reason, { name: 'BackupError' })
  t.same(server.keys(`${PREFIX}/locks/`), [])

  // A process whose lock was taken over does not complete its backup.
  const storage = world.storage('one')
  const late = await storage.lock()
  await t.rejects(
    storage.put('backups/x', async path => {
      writeFileSync(path, 'late')
      t.context.now = Date.now
      Date.now = () => t.context.now() + 51 * 60_000
    }),
    { name: 'BackupError', message: /has lost its lock of the backups/ },
  )
  Date.now = t.context.now
  t.same(server.keys(`${PREFIX}/backups/`), [])
  await late.release()

  const renewing = new S3Storage({ ...world.options('one'), timing: { ...TIMING, renewalMs: 2 } })
  const renewed = await renewing.lock()
  const [key] = server.keys(`${PREFIX}/locks/`)
  const at = server.objects.get(key!)!.modified
  await until(() => server.objects.get(key!)!.modified > at)
  await renewing.put('config/x', path => writeFileSync(path, 'x'))
  // Another process took it for expired.
  const isLost = await until(async () => {
    server.objects.delete(key!)
    const error = await renewing.remove('config/x').catch((error: unknown) => error as Error)
    return error instanceof Error && /has lost its lock/.test(error.message)
  })
  t.ok(isLost)
  await renewed.release()

  await world.backUp()
  await store.close()
  const second = join(world.folder, 'second')
  const another = await openLogged(second, KEEP_ALL)
  another.write(random, 5)
  await t.rejects(makeBackup({ path: second, ...MAP, storage: world.storage() }), {
    name: 'BackupError',
    message: /^s3:.* has backups of another store, such as \d{8}T\d{9}Z; name another place for those of /,
  })
  await another.close()
})

t.test('what is there is not overwritten', async t => {
  const world = await World.make(t)
  const { server } = world
  for (const conditions of ['supported', 'refused', 'ignored'] as const) {
    server.conditions = conditions
    const storage = world.storage()
    const lock = await storage.lock()
    for (const size of [0, 10, 100_000]) {
      const name = `blobs/${conditions}/${size}`
      const put = (fill: string) => storage.put(name, path => writeFileSync(path, fill.repeat(size)))
      const stored = await put('a')
      t.equal(stored.bytes, size)
      t.same(await put('a'), stored, 'the same content')
      t.equal((await storage.read(name))!.toString(), 'a'.repeat(size))
      if (size === 0 || conditions === 'ignored') continue
      await t.rejects(put('b'), { name: 'BackupError', message: /is there already, with another content$/ })
      t.equal((await storage.read(name))!.toString(), 'a'.repeat(size))
    }
    await lock.release()
    t.same(world.left(), [])
  }
})

t.test('refusals are one sentence without secrets', async t => {
  const world = await World.make(t)
  const { server } = world
  const { id, secret, token } = server.key
  const failing = async (options: object, env: Record<string, string | undefined> = {}): Promise<string> => {
    const all = { ...world.options(), env: { ...server.env, ...env }, ...options }
    const error = await (async () => new S3Storage(all).names(''))().catch((error: unknown) => error as Error)
    t.match(error, { name: 'BackupError' })
    const { message } = error as Error
    for (const text of [secret, token!, 'hunter2', id, 'Signature=']) t.notOk(message.includes(text), message)
    t.notOk(message.includes('\n'))
    return message
  }
  const place = server.address(PREFIX)
  const of = async (code: string, env: Record<string, string | undefined>, reason: string): Promise<void> =>
    void t.equal(await failing({}, env), `${place} cannot be listed: ${reason} (${code})`)
  await of(
    '403 InvalidAccessKeyId',
    { AWS_ACCESS_KEY_ID: 'x' },
    'the server does not know the key of AWS_ACCESS_KEY_ID',
  )
  await of(
    '403 SignatureDoesNotMatch',
    { AWS_SECRET_ACCESS_KEY: 'hunter2' },
    'AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID',
  )
  await of('400 InvalidToken', { AWS_SESSION_TOKEN: 'hunter2' }, 'AWS_SESSION_TOKEN is not valid')
  await of(
    '400 AuthorizationHeaderMalformed',
    { AWS_REGION: 'us-east-1' },
    'the bucket is in the region eu-test-1; AWS_REGION names it',
  )
  server.fault = () => 'denied'
  await of('403 AccessDenied', {}, 'the key has no right to do that')
  server.fault = () => undefined
  const key = 'needs a key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment'
  t.equal(await failing({}, { AWS_ACCESS_KEY_ID: '' }), `${place} ${key}`)
  t.equal(await failing({}, { AWS_SECRET_ACCESS_KEY: undefined }), `${place} ${key}`)
  t.match(await failing({}, { AWS_SESSION_TOKEN: 'hunter2\nx: y' }), /have no spaces or other lines$/)
  t.match(await failing({}, { AWS_REGION: 'a/b' }), /^AWS_REGION is "a\/b", which is not a region/)
  t.match(
    await failing({ address: 's3://no-such-bucket' }),
    /^s3:\/\/no-such-bucket cannot be listed: the bucket does not exist \(404/,
  )
  for (const address of ['s3://', 's3:bucket', 's3:///x', 's3://key:hunter2@bucket/x', 's3://b', 's3://bücket'])
    t.match(
      await failing({ address }),
      /^the address of the backups is not s3:\/\/bucket\/prefix; keys belong in AWS_ACC/,
    )
  for (const address of [
    's3://bucket//x',
    's3://bucket/../x',
    's3://bucket/x/.',
    's3://bucket/a\nb',
    `s3://bucket/${'x'.repeat(600)}`,
  ])
    t.match(await failing({ address }), /^the prefix in s3:\/\/bucket\/… cannot be used/)
  for (const endpoint of [
    'minio:9000',
    'ftp://minio',
    'https://key:hunter2@minio',
    'https://minio?x',
    'not an address',
  ])
    t.match(await failing({ endpoint }), /^the endpoint is not an address such as https:\/\/minio\.example:9000/)
  t.match(await failing({ endpoint: 'http://127.0.0.1:1' }), /cannot be reached at 127\.0\.0\.1:1: ECONNREFUSED$/)
  t.match(
    await failing({ timing: { ...TIMING, idleMs: 20 }, endpoint: await silent(t) }),
    /cannot be reached at 127.*: it does not go on$/,
  )
})

/** @returns the address of a server that never answers */
async function silent(t: Test): Promise<string> {
  const server = await S3Server.start(t)
  server.fault = (): Fault => 'silent'
  return server.endpoint
}
