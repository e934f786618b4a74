/** Files that a server writes into a checkout stay out of git: users, keys, data and secrets. */
import { spawnSync } from 'node:child_process'
import t from 'tap'

const PRIVATE = [
  'tesser.directory.json',
  'tesser.directory.json.123.new',
  'data/store/data.mdb',
  '.tesser/store/data.mdb',
  '.env',
]

const { status, stdout } = spawnSync('git', ['check-ignore', '--no-index', ...PRIVATE], { encoding: 'utf8' })

t.test('users, keys, data and secrets in a checkout are ignored by git', { skip: status === 128 }, async t => {
  t.strictSame(stdout.trim().split('\n'), PRIVATE)
})
