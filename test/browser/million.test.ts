/** A grid of a million rows. In the usual run the cities of the demo replace them (`scenarios/browse.ts`). */
import t from 'tap'
import { isLong, timeoutMs } from '../support/runner/rounds.ts'
import { insertRows, startServer } from '../support/servers/test-server.ts'
import { inBrowser } from './harness.ts'
import { scrolled } from './scenarios/scroll.ts'

const ROWS = 1_000_000
const AT_ONCE = 50_000
const model = {
  name: 'million',
  dataClasses: {
    Measurement: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        place: { type: 'string' },
        value: { type: 'number' },
        taken: { type: 'date' },
        note: { type: 'string' },
      },
    },
  },
}

const measurement = (ID: number) => ({
  ID,
  place: `place ${ID % 997}`,
  value: ID / 7,
  taken: new Date(ID * 1e6).toISOString(),
  note: 'x'.repeat(ID % 300),
})

t.setTimeout(timeoutMs)
if (!isLong) t.test('a million rows', { skip: 'in the long run' }, async () => {})
else {
  const scenario = scrolled('Measurement', ROWS)
  await inBrowser({ million: { 'scrolled from end to end by the bar': scenario } }, async (t, transport) => {
    const { url, engine } = await startServer(t, { model, rows: {} }, { transport })
    for (let from = 1; from <= ROWS; from += AT_ONCE) {
      const rows = Array.from({ length: AT_ONCE }, (_, at) => measurement(from + at))
      await insertRows(engine.saves, 'Measurement', rows)
    }
    return url
  })
}
