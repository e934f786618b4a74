import t from 'tap'
import { hintOf } from '../../../../plugins/mcp/hints.ts'

t.test('hints have room beside the data, whatever their number and their letters', async t => {
  t.equal(hintOf([]), undefined)
  t.equal(hintOf(['a', 'b']), 'a; b')
  const long = '日'.repeat(300)
  t.equal(hintOf([long, 'short']), 'short', 'what does not fit is left out whole')
  t.ok(Buffer.byteLength(hintOf(Array.from({ length: 100 }, (_, i) => `children${i} shows 1 of 2`))!) <= 640)
})
