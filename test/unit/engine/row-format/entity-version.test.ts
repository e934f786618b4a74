import t from 'tap'
import { versionOf } from '../../../../engine/row-format/entity-version.ts'

const version = (head: string): string => {
  const bytes = Buffer.from(head)
  return versionOf(bytes, bytes.indexOf('"__KEY"'))
}
const head = (key: string, ms: number, stamp: number): string =>
  `"__KEY":${JSON.stringify(key)},"__TIMESTAMP":"${new Date(ms).toISOString()}","__STAMP":${stamp}`

t.test('a version is the same in a row, in an answer and in an indented one', t => {
  const plain = head('a "b" c', 1e12, 37)
  const indented = `{\n  "__entityModel": "X",\n  ${plain.replaceAll('":', '": ').replaceAll(',"', ',\n  "')}`
  t.match(version(plain), /^37-\d+$/)
  t.equal(version(`{"__entityModel":"X",${plain}`), version(plain))
  t.equal(version(indented), version(plain))
  t.end()
})

t.test('different keys, times and stamps have different versions', t => {
  const seen = new Set<string>()
  for (let key = 0; key < 100; key++) {
    for (let ms = 0; ms < 100; ms++)
      for (let stamp = 1; stamp <= 10; stamp++) seen.add(version(head(`${key}`, ms, stamp)))
  }
  t.equal(seen.size, 100_000)
  t.end()
})
