import t from 'tap'
import type { RestRequest } from '../../../../kernel/api.ts'
import { streamFileOfForm } from '../../../../plugins/upload/form.ts'
import { randomOf } from '../../../support/base/random.ts'
import { seedOf } from '../../../support/runner/rounds.ts'

/** A body whose pieces arrive even if the previous one is still being consumed, as they may after a pause. */
function requestOf(pieces: readonly Uint8Array[], boundary: string): RestRequest {
  return {
    transport: { header: () => `multipart/form-data; boundary=${boundary}` },
    streamBody: async (take: (piece: Uint8Array) => Promise<void> | undefined) => {
      const lent = Buffer.alloc(Math.max(...pieces.map(({ length }) => length)))
      const taken = pieces.map(piece => {
        lent.set(piece)
        const waiting = take(lent.subarray(0, piece.length))
        waiting?.catch(() => {})
        lent.fill(0)
        return waiting
      })
      await Promise.all(taken)
    },
  } as unknown as RestRequest
}

t.test('the file of a form has all its bytes, however the body is split', async t => {
  const random = randomOf(seedOf(1))
  const file = Buffer.from(Array.from({ length: 300_000 }, () => random.integer(0, 255)))
  const part = (name: string) => `\r\n--a\r\ncontent-disposition: form-data; name="${name}"`
  const fields = Array.from({ length: 100 }, (_, i) => `${part(`field${i}`)}\r\n\r\nvalue`).join('')
  const head = `${fields}${part('file')}; filename="x"\r\ncontent-type: application/octet-stream\r\n\r\n`
  const body = Buffer.concat([Buffer.from(head.slice(2)), file, Buffer.from('\r\n--a--\r\n')])
  const pieces: Uint8Array[] = []
  for (let at = 0; at < body.length; ) {
    const end = at + random.integer(1, 90_000)
    pieces.push(body.subarray(at, end))
    at = end
  }
  const got: Uint8Array[] = []
  const take = async (piece: Uint8Array) => void got.push(Buffer.from(piece))
  await streamFileOfForm(requestOf(pieces, 'a'), () => {}, take, {} as never)
  t.ok(Buffer.concat(got).equals(file))
})
