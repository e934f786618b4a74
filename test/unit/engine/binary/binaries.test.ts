import t from 'tap'
import { Binaries, type BinariesOptions } from '../../../../engine/binary/binaries.ts'
import type { BinaryAttribute } from '../../../../engine/binary/stored-binary.ts'
import { BinaryValue } from '../../../../engine/catalog/value.ts'
import type { ReadRequest } from '../../../../engine/query/contract/request.ts'

t.test('an image that arrives after its entity was deleted makes no entity', async t => {
  const written: unknown[] = []
  const discarded: unknown[] = []
  const options = {
    data: {
      records: {},
      read: (work: (snapshot: object) => unknown) => work({ table: () => ({ row: () => undefined }) }),
    },
    backends: { of: () => ({}), rowId: () => 7, withRights: (request: unknown) => request },
    uploads: { discardUnless: async (_: Error, value: unknown) => void discarded.push(value) },
    write: async (request: unknown) => {
      written.push(request)
      return { entities: [] }
    },
    cacheBytes: 0,
  }
  const binaries = new Binaries(options as unknown as BinariesOptions)
  const value = new BinaryValue('image/png', new Uint8Array(3))
  const request = { dataClass: 'Employee' } as ReadRequest
  const photo = { name: 'photo', type: 'image', dataClass: {} } as BinaryAttribute
  const gone = { httpStatus: 404, entries: [{ errCode: 1543 }] } as unknown as Error
  await t.rejects(binaries.save(request, photo, value, { owner: 'me' }), gone)
  t.same(written, [])
  t.same(discarded, [value])
})
