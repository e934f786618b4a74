import { scryptSync } from 'node:crypto'
import t from 'tap'
import { Directory } from '../../../../kernel/auth/directory.ts'
import { costProblem, hashPassword, MAX_PASSWORD_BYTES, verifyPassword } from '../../../../kernel/auth/password.ts'

t.test('a password is verified against its hash, and each hash has its own salt', async t => {
  const [first, second] = [await hashPassword('correct horse'), await hashPassword('correct horse')]
  t.not(first, second)
  t.notOk(first.includes('horse'))
  t.equal(await verifyPassword('correct horse', first), true)
  t.equal(await verifyPassword('correct horse', second), true)
  t.equal(await verifyPassword('Correct horse', first), false)
  t.equal(await verifyPassword('', first), false)
  t.equal(await verifyPassword('correct horse', undefined), false)
})

t.test('a login takes as long for an unknown name as for a wrong password', async t => {
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
  // The hash takes a thousand times as long as all else, so its absence could not hide in the noise.
  const ratio = (await least('nobody')) / (await least('Ada'))
  t.ok(ratio > 0.1 && ratio < 10, `${ratio}`)
})

t.test('a password is the same in every Unicode normalization form', async t => {
  const hash = await hashPassword('Zoë ﬁn 密码')
  t.equal(await verifyPassword('Zoe\u0308 fin 密码', hash), true)
})

t.test('a password of combining marks is bounded before it is normalised, which is quadratic', async t => {
  const marks = (count: number): string => `a${'\u0300\u0323'.repeat(count)}`
  const cpuMs = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.cpuUsage()
    await work().catch(error => t.match(error, { name: 'AUTH.PASSWORD_TOO_LONG', httpStatus: 400 }))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  t.equal(await verifyPassword('a'.repeat(MAX_PASSWORD_BYTES)), false, 'as long as it may be')
  const longest = marks(Math.floor((MAX_PASSWORD_BYTES - 1) / 4))
  const tooLong = marks(100_000)
  const plain = await cpuMs(() => hashPassword('a plain one'))
  for (const [name, work] of Object.entries({
    'the longest that is accepted': () => verifyPassword(longest),
    'one that is too long for a login': () => verifyPassword(tooLong),
    'one that is too long for a new user': () => hashPassword(tooLong),
  })) {
    // The first takes 2.6 ms and one hash; without the bound the others would take a hundred times as long as a hash.
    const ms = await cpuMs(work)
    t.ok(ms < 20 * plain, `${name} takes ${ms} ms, a plain one ${plain} ms`)
  }
})

t.test('an unknown name costs as much as a known one, even if hashes differ in cost', async t => {
  const salt = Buffer.alloc(16, 1)
  const key = scryptSync('correct horse', salt, 32, { N: 2 ** 10, r: 8, p: 1 })
  const cheap = ['scrypt', 2 ** 10, 8, 1, salt.toString('base64url'), key.toString('base64url')].join('$')
  const directory = new Directory({ users: [{ name: 'Ada', password: cheap }], keys: [] })
  t.match(await directory.authenticate('Ada', 'correct horse'), { userName: 'Ada' })
  const least = async (name: string): Promise<number> => {
    const times: number[] = []
    for (let i = 0; i < 20; i++) {
      const start = performance.now()
      t.equal(await directory.authenticate(name, 'wrong'), undefined)
      times.push(performance.now() - start)
    }
    return Math.min(...times)
  }
  const ratio = (await least('nobody')) / (await least('Ada'))
  t.ok(ratio > 0.1 && ratio < 10, `${ratio}`)
  t.equal(await directory.authenticate('nobody', 'correct horse'), undefined, 'the password of another user')
})

t.test('hashes that scrypt would refuse are recognised', async t => {
  const hash = (N: number, r: number, p: number) => ['scrypt', N, r, p, 'A'.repeat(22), 'A'.repeat(43)].join('$')
  for (const right of [hash(2 ** 15, 8, 3), hash(2 ** 17, 8, 1), hash(2, 1, 1)]) t.equal(costProblem(right), undefined)
  for (const wrong of [hash(3, 8, 1), hash(0, 8, 1), hash(1, 8, 1), hash(2 ** 15, 0, 1), hash(2 ** 15, 8, 0)]) {
    t.type(costProblem(wrong), 'string', wrong)
  }
  t.match(costProblem(hash(2 ** 20, 8, 1)), /bytes of memory/)
})
