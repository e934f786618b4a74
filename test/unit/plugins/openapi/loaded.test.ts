import t from 'tap'
import { isParameterOf } from '../../../../plugins/openapi/loaded.ts'
import { SHARED_PARAMETERS } from '../../../../plugins/openapi/shared.ts'

/** Parts of addresses, headers, and parameters of several plugins. */
const OF_SEVERAL = ['timeout', 'atomic', 'atOnce', 'atonce', 'set', 'keys', 'ifNoneMatch', 'ifMatch']

t.test('each other parameter belongs to a plugin, without which the document does not show it', async t => {
  t.ok(Object.keys(SHARED_PARAMETERS).length > 20)
  t.same(
    Object.keys(SHARED_PARAMETERS).filter(name => isParameterOf([], name)),
    OF_SEVERAL,
  )
})
