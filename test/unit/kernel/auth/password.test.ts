import t from 'tap'
import { Directory } from '../../../../kernel/auth/directory.ts'
import { hashPassword, verifyPassword } from '../../../../kernel/auth/password.ts'

t.test('a password is verified against its hash, whose salt is its own', async t => {
  const [first, second] = [await hashPassword('correct horse'), await hashPassword('correct horse')]
  t.not(first, second)
  t.notOk(first.includes('horse'))
  t.equal(await verifyPassword('correct horse', first), true)
  t.equal(await verifyPassword('correct horse', second), true)
  t.equal(await verifyPassword('Correct horse', first), false)
  t.equal(await verifyPassword('', first), false)
  t.equal(await verifyPassword('correct horse', undefined), false)
})

t.test('a login takes as long for a name that nobody has as for a wrong password', async t => {
  const directory = new Directory({ users: [{ name: 'Ada', password: await hashPassword('correct horse') }], keys: [] })
  const least = async (name: string): Promise<number> => {
    const times: number[] = []
    for (let i = 0; i < 5; i++) {
      const start = performance.now()
      t.equal(await directory.authenticate(name, 'wrong'), undefined)
      times.push(performance.now() - start)
    }
    return Math.min(...times)
  }
  // The work of the hash is a thousand times what else there is, so its absence could not hide in the noise.
  const ratio = (await least('nobody')) / (await least('Ada'))
  t.ok(ratio > 0.3 && ratio < 3, `${ratio}`)
})
