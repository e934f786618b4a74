/** Test files stay short enough to be read: a longer one is divided by behaviour. */
import t from 'tap'
import { sources } from '../support/checks/sources.ts'

const MAX_LINES = 400

t.test(`no test file has more than ${MAX_LINES} lines`, async t => {
  const tests = sources('.test.ts').filter(({ path }) => path.startsWith('test/'))
  t.ok(tests.length > 400, `${tests.length} test files`)
  const lines = (text: string): number => text.split('\n').length - 1
  t.same(
    tests.flatMap(({ path, text }) => (lines(text) > MAX_LINES ? [`${path}: ${lines(text)}`] : [])),
    [],
  )
})
