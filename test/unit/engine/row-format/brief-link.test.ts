import t from 'tap'
import type { DataClass } from '../../../../engine/catalog/dataclass.ts'
import { briefLink } from '../../../../engine/row-format/wire-value.ts'
import fc from '../../../support/runner/fast-check.ts'

const attribute = { dataClass: { uri: '/rest/Author' } as DataClass, name: 'life' }
const briefOf = (json: string, bytes: number): { uri: string; brief: string } =>
  JSON.parse(briefLink(attribute, '1', Buffer.from(json).subarray(0, bytes))).__deferred

t.test('a brief is the beginning of a text, without partial characters or escapes', async t => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme', minLength: 30 }),
      fc.integer({ min: 16, max: 60 }),
      fc.boolean(),
      (text, bytes, isEscaped) => {
        const escaped = [...Array(text.length).keys()]
          .map(at => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
          .join('')
        const json = isEscaped ? `"${escaped}"` : JSON.stringify(text)
        if (Buffer.byteLength(json) <= bytes) return true
        const { uri, brief } = briefOf(json, bytes)
        return (
          uri === '/rest/Author(1)/life' &&
          text.startsWith(brief) &&
          brief.isWellFormed() &&
          Buffer.byteLength(JSON.stringify(brief)) <= bytes + 1
        )
      },
    ),
  )
  t.equal(briefOf(JSON.stringify('x'.repeat(20) + '\\'.repeat(9)), 16).brief, 'x'.repeat(15))
  t.equal(briefOf(JSON.stringify(`${'x'.repeat(13)}\\\\ more`), 16).brief, `${'x'.repeat(13)}\\`)
  t.equal(briefOf(JSON.stringify(`${'x'.repeat(14)}"more`), 16).brief, 'x'.repeat(14))
})

t.test('a brief of another value is the beginning of its JSON', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 10 }),
      fc.integer({ min: 16, max: 60 }),
      (value, bytes) => {
        const json = JSON.stringify(value)
        const { brief } = briefOf(json, bytes)
        return json.startsWith(brief) && brief.isWellFormed()
      },
    ),
  )
})
