/** Users and keys that commands add while the server runs. */
import { join } from 'node:path'
import t from 'tap'
import { createKey, type DirectoryFile, hashKey, writeDirectory } from '../../kernel/auth/directory.ts'
import { hashPassword } from '../../kernel/auth/password.ts'
import { company } from '../support/fixtures/company.ts'
import { temporaryFolder } from '../support/base/temporary-folder.ts'
import { startServer } from '../support/servers/test-server.ts'

t.test('a new user, a new password and a new key are accepted at once', async t => {
  const folder = temporaryFolder(t)
  const content: DirectoryFile = { users: [], keys: [] }
  const write = (): void => writeDirectory(join(folder, 'tesser.directory.json'), content)
  write()
  const server = await startServer(t, company, { folder })
  const logIn = async (password: string) =>
    (await server.post('/$directory/login', [], { 'username-4d': 'Ada', 'password-4d': password })).json
  const withKey = async (key: string) => (await server.get('/Employee', { authorization: `Bearer ${key}` })).status

  t.match(await logIn('correct horse'), { result: false })
  content.users.push({ name: 'Ada', password: await hashPassword('correct horse') })
  write()
  t.match(await logIn('correct horse'), { result: true })
  content.users[0]!.password = await hashPassword('battery staple')
  write()
  t.match(await logIn('battery staple'), { result: true })
  t.match(await logIn('correct horse'), { result: false })

  const [first, second] = [createKey(), createKey()]
  t.equal(await withKey(first), 401)
  content.keys.push({ name: 'first', hash: hashKey(first) }, { name: 'second', hash: hashKey(second) })
  write()
  t.same(await Promise.all([withKey(first), withKey(second), withKey(createKey())]), [200, 200, 401])
})
