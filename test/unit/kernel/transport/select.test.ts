import t from 'tap'
import { selectTransport } from '../../../../kernel/transport/select.ts'
import { loadableTransports } from '../../../support/servers/transports.ts'

const HEADER_BYTES = 16 * 1024
const all = ['uws', 'uws-node20', 'node-http'] as const

t.test('node-http loads everywhere', async t => {
  t.equal(selectTransport('node-http', HEADER_BYTES).name, 'node-http')
})

t.test('auto takes the first that loads, with the reasons why those before it were passed over', async t => {
  const { name, passedOver, warnings } = selectTransport('auto', HEADER_BYTES)
  const missing = all.filter(name => !loadableTransports.includes(name))
  if (missing.length > 0) process.stderr.write(`tests run without the transports that do not load: ${missing}\n`)
  t.equal(name, loadableTransports[0])
  t.equal(passedOver.length, all.indexOf(name))
  for (const [i, reason] of passedOver.entries()) {
    t.match(reason, new RegExp(`^transport ${all[i]} does not load: .+`))
    t.notMatch(reason, '\n', 'one line for the log')
  }
  if (name === 'uws') t.same(warnings, [])
  else {
    t.match(warnings, [
      / It serves because transport uws does not load: .+\. uws loads in Node\.js .*server\.transport$/,
    ])
    t.equal(warnings.length, 1)
  }
  t.same(selectTransport(name, HEADER_BYTES).warnings, [], 'the operator has named it')
})

for (const name of all.filter(name => !loadableTransports.includes(name))) {
  t.test(`${name}, named and not loadable, is an error with the reason and an alternative`, async t => {
    t.throws(() => selectTransport(name, HEADER_BYTES), {
      message: new RegExp(`transport ${name} does not load: .+; "auto" takes the fastest`),
    })
  })
}
