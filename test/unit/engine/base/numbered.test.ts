import t from 'tap'
import { Numbered } from '../../../../engine/base/numbered.ts'
import { randomOf } from '../../../support/base/random.ts'

t.test('it holds what a Map holds, whatever comes and goes', async t => {
  const random = randomOf(7)
  for (const most of [3, 40, 3_000]) {
    const table = new Numbered<string>()
    const expected = new Map<number, string>()
    let next = 1
    for (let i = 0; i < 20_000; i++) {
      if (expected.size < most && random.chance(0.55)) {
        // In a row, as the numbers of calls, with a leap now and then.
        next += random.chance(0.01) ? random.integer(1, 2 ** 20) : 1
        expected.set(next, `value ${next}`)
        table.set(next, `value ${next}`)
      } else {
        // Usually one of the oldest.
        const id = [...expected.keys()][random.integer(0, 60)] ?? next + 1
        expected.delete(id)
        table.delete(id)
        if (table.has(id) || table.get(id) !== undefined) t.fail(`${id} is still there`)
      }
      if (table.size !== expected.size) t.fail(`${table.size} of ${expected.size}`)
    }
    t.same(
      table.ids().sort((a, b) => a - b),
      [...expected.keys()],
    )
    t.same(table.values().sort(), [...expected.values()].sort())
    for (const [id, value] of expected) if (table.get(id) !== value || !table.has(id)) t.fail(`${id} is lost`)
  }
})
