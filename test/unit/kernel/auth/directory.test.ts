import { join } from 'node:path'
import t from 'tap'
import { Directory, readDirectory } from '../../../../kernel/auth/directory.ts'

const wrong: [name: string, content: unknown, message: RegExp][] = [
  ['users that are not a list', { users: {} }, /\/users must be array/],
  ['a user without a password', { users: [{ name: 'ada' }] }, /\/users\/0 must have required property 'password'/],
  ['a key without a name', { keys: [{ hash: 'x' }] }, /\/keys\/0 must have required property 'name'/],
  ...[
    ['Ada', 'ada'],
    ['adà@example.com', 'ada@example.com'],
    ['ΟΔΟΣ', 'οδος'],
  ].flatMap(([one, other]): typeof wrong => {
    const message = new RegExp(`the names "${one}" and "${other}" are equal in queries, .*; rename one`)
    const user = (name: string | undefined) => ({ name, password: `scrypt$2$1$1$${'a'.repeat(22)}$${'a'.repeat(43)}` })
    const key = (name: string | undefined, i: number) => ({ name, hash: String(i).repeat(64) })
    return [
      [`users ${one} and ${other}`, { users: [one, other].map(user) }, message],
      [`keys ${one} and ${other}`, { keys: [one, other].map(key) }, message],
    ]
  }),
]

for (const [name, content, message] of wrong) {
  t.test(`a file of users is refused: ${name}`, async t => {
    const folder = t.testdir({ 'tesser.directory.json': JSON.stringify(content) })
    t.throws(() => readDirectory(join(folder, 'tesser.directory.json')), { message })
  })
}

t.test('without a file there are no users and no keys', async t => {
  t.same(readDirectory(join(t.testdir({}), 'tesser.directory.json')), { users: [], keys: [] })
})

t.test('names of users and of keys are taken, as queries compare them', async t => {
  const directory = new Directory({
    users: [{ name: 'Ada', password: '' }],
    keys: [{ name: 'robot@example.com', hash: '0'.repeat(64) }],
  })
  for (const name of ['ada', 'ADA', 'adà', 'Robot@Example.com', 'róbot@example.com']) t.ok(directory.has(name), name)
  for (const name of ['', 'ada ', 'robot']) t.notOk(directory.has(name), name)
})
