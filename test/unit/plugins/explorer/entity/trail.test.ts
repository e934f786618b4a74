import t from 'tap'
import fc from '../../../../support/runner/fast-check.ts'
import { readTrail, writeTrail } from '../../../../../plugins/explorer/page/entity/trail.ts'

t.test('a trail is read back as it was written, with any keys', async t => {
  const step = fc.record({ dataClass: fc.string({ minLength: 1 }), key: fc.string({ minLength: 1 }) })
  fc.assert(fc.property(fc.array(step, { maxLength: 12 }), steps => t.same(readTrail(writeTrail(steps)), steps)))
})

t.test('a long trail loses its beginning, and unreadable steps are left out', async t => {
  const steps = Array.from({ length: 20 }, (_, at) => ({ dataClass: 'City', key: String(at) }))
  t.same(readTrail(writeTrail(steps)).length, 12)
  t.same(readTrail('City/%;/x;Country/FR'), [{ dataClass: 'Country', key: 'FR' }])
  t.same(readTrail(undefined), [])
})
