import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../../../config/load-config.ts'
import { readDirectory, writeDirectory } from '../../../../kernel/auth/directory.ts'
import { exposureWarnings } from '../../../../kernel/auth/exposed-files.ts'
import { createTestServer } from '../../../../kernel/testing.ts'
import { temporaryFolder } from '../../../support/base/temporary-folder.ts'

/** Modes must not depend on the umask of the process that starts the server. */
process.umask(0)

const MODEL = {
  name: 'test',
  dataClasses: {
    Thing: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        scan: { type: 'blob' },
      },
    },
  },
}

t.test('folder and files of a new store are accessible to their owner only', async t => {
  const folder = temporaryFolder(t)
  const data = { Thing: Array.from({ length: 50 }, (_, ID) => ({ ID })) }
  const storage = { memoryBytes: '64 MiB', imageMinutes: 0.0001, imageChanges: 0 }
  const config = { storage }
  const server = await createTestServer({ model: MODEL, data, folder, config })
  const body = Buffer.alloc(300_000, 1)
  t.equal((await server.send('PUT', '/rest/Thing(1)/scan', body)).status, 200)
  await server.close()
  const names = readdirSync(join(folder, 'store'), { recursive: true }) as string[]
  for (const kind of [/^data\.mdb$/, /^lock\.mdb$/, /^memory-.*\.image$/, /^files$/, /^files.[0-9A-F]{32}$/]) {
    t.ok(
      names.some(name => kind.test(name)),
      `${kind} is there: ${names}`,
    )
  }
  for (const name of ['.', ...names]) {
    const { mode } = statSync(join(folder, 'store', name))
    t.equal((mode & 0o077).toString(8), '0', name)
  }
})

t.test('the file of users is accessible to its owner only, even if it was not before', async t => {
  const file = join(temporaryFolder(t), 'tesser.directory.json')
  writeFileSync(file, '{}', { mode: 0o666 })
  writeDirectory(file, { users: [], keys: [{ name: 'nightly', hash: '0'.repeat(64) }] })
  t.equal((statSync(file).mode & 0o777).toString(8), '600')
  t.equal(readDirectory(file).keys[0]!.name, 'nightly')
  t.throws(() => writeDirectory(file, { users: [], keys: [{ name: '', hash: '' }] }))
  t.equal(readDirectory(file).keys[0]!.name, 'nightly', 'content that could not be read again is not written')
  t.same(readdirSync(join(file, '..')), ['tesser.directory.json'])
})

t.test('files that every user of the machine can read or change cause warnings', async t => {
  const folder = temporaryFolder(t)
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const path = (name: string): string => join(folder, name)
  writeFileSync(path('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  writeFileSync(path('jwt.pem'), publicKey.export({ type: 'spki', format: 'pem' }))
  for (const name of ['cert.pem', 'oidc.key', 'model.json', 'roles.json', 'tesser.directory.json'])
    writeFileSync(path(name), '{}')
  mkdirSync(path('data/files'), { recursive: true })
  writeFileSync(path('data/data.mdb'), '')
  const tls = { keyFile: 'key.pem', certFile: 'cert.pem', passphrase: 'secret' }
  const content = { model: 'model.json', data: 'data', server: { tls }, auth: { jwt: { keyFile: 'jwt.pem' } } }
  writeFileSync(path('tesser.config.json'), JSON.stringify(content))
  const config = loadConfig({ file: path('tesser.config.json'), env: {}, flags: {} })
  const chmod = (mode: number): void => {
    for (const name of readdirSync(folder)) chmodSync(path(name), name === 'data' ? mode | 0o700 : mode)
    chmodSync(path('data/files'), 0o755)
    chmodSync(path('data/data.mdb'), mode)
  }
  const warned = (): string[] =>
    exposureWarnings(config, ['oidc.key', './oidc.key', 'absent']).map(text =>
      /can (read|change) \S*?([^/ ]+);/.exec(text)!.slice(1).join(' '),
    )

  chmod(0o600)
  t.same(warned(), [])
  chmod(0o660)
  t.same(warned(), [], 'rights of a group are intended')
  chmod(0o644)
  chmodSync(path('data'), 0o755)
  t.same(warned(), [
    'read tesser.directory.json',
    'read key.pem',
    'read tesser.config.json',
    'read oidc.key',
    'read data',
  ])
  chmodSync(path('data'), 0o750)
  t.same(warned().at(-1), 'read oidc.key', 'the folder of the store keeps others out')
  chmod(0o666)
  chmodSync(path('data'), 0o711)
  t.same(warned(), [
    'change tesser.directory.json',
    'change key.pem',
    'change tesser.config.json',
    'change oidc.key',
    'change roles.json',
    'change jwt.pem',
    'change data',
  ])
  chmod(0o600)
  chmodSync(path('data'), 0o703)
  t.same(warned(), ['change data'], 'another file could be placed there')
  t.match(exposureWarnings(config), [new RegExp(`chmod -R o= ${path('data')}`)])
})
