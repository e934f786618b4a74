import t from 'tap'
import type { StorageAttribute } from '../../../../engine/catalog/attribute.ts'
import { encodePlain } from '../../../../engine/row-format/wire-value.ts'

const TEXT = { type: 'string', simpleDate: false } as StorageAttribute
const encoded = (text: string): string => encodePlain(TEXT, text, { dateOnlyFormat: 'iso' })

t.test('a text with any one character in it is encoded as JSON.stringify does', async t => {
  const wrong = Array.from({ length: 0x10000 }, (_, unit) => `a${String.fromCharCode(unit)}z`).filter(
    text => encoded(text) !== JSON.stringify(text),
  )
  t.strictSame(wrong, [])
  for (const text of ['', 'Zoë', '𝄞', 'a"b\\c\n', 'x'.repeat(5_000_000)]) t.equal(encoded(text), JSON.stringify(text))
})
