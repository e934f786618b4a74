import t from 'tap'
import { describeSystemError } from '../../../../engine/base/system-error.ts'

t.test('a number of LMDB is explained, and a code of Node.js has its own message', async t => {
  const error = (message: string, code: unknown) => Object.assign(new Error(message), { code })
  t.equal(
    describeSystemError(error('Input/output error', 5)),
    'Input/output error: the disk of the store is full or failing',
  )
  t.equal(describeSystemError(error('no such number', -1)), 'no such number')
  t.equal(describeSystemError(error('EIO: i/o error, read', 'EIO')), 'EIO: i/o error, read')
})
