import { request } from 'undici'
import { oursPath } from '../http/http-case.ts'
import { rate, ratio } from '../report/numbers.ts'
import { MODEL } from '../world/model.ts'
import { World } from '../world/world.ts'
import { askJson } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const REQUESTS = 100
const ROWS = 10_000
/** The last tenth of the requests may take this much longer than the second: the first also warms the server up. */
const MAX_FACTOR = 2

/** A store that is filled by large saves, one after the other. */
export default ownServerCase({
  name: 'fill',
  title: `${(REQUESTS * ROWS) / 1_000_000} M employees by ${REQUESTS} requests of ${ROWS.toLocaleString('en')} into an empty store, one connection`,
  place: async () => makePlace(MODEL, 'store', {}, 'fill'),
  async measure({ ours: { child, port } }) {
    const world = new World(1, REQUESTS * ROWS)
    const save = async (dataClass: string, body: string): Promise<void> => {
      const url = `http://127.0.0.1:${port}${oursPath(dataClass, { $method: 'update' })}`
      const answer = await request(url, { method: 'POST', body })
      await answer.body.arrayBuffer()
      if (answer.statusCode !== 200) throw new Error(`a save is answered with ${answer.statusCode}`)
    }
    const bodyOf = (count: number, entity: (row: number) => object) =>
      JSON.stringify(Array.from({ length: count }, (_, row) => entity(row)))
    await save(
      'Company',
      bodyOf(world.companies, row => world.company(row)),
    )
    const seconds: number[] = []
    const before = await child.ask('cpu', null)
    for (let n = 0; n < REQUESTS; n++) {
      const body = bodyOf(ROWS, row => world.employee(n * ROWS + row))
      const sentAt = performance.now()
      await save('Employee', body)
      seconds.push((performance.now() - sentAt) / 1000)
    }
    const microseconds = ((await child.ask('cpu', null)) - before) / (REQUESTS * ROWS)
    const { __COUNT } = await askJson(port, oursPath('Employee', { $top: '0' }))
    if (__COUNT !== REQUESTS * ROWS) throw new Error(`there are ${__COUNT} employees and not ${REQUESTS * ROWS}`)
    const sum = (some: readonly number[]) => some.reduce((all, each) => all + each, 0)
    const tenth = REQUESTS / 10
    const factor = sum(seconds.slice(-tenth)) / sum(seconds.slice(tenth, 2 * tenth))
    return {
      lines: [
        `${sum(seconds).toFixed(1)} s, ${rate((REQUESTS * ROWS) / sum(seconds))} rows/s, CPU ${microseconds.toFixed(1)} µs a row`,
      ],
      verdicts: [
        {
          case: this.name,
          goal: `the last tenth ≤ ${MAX_FACTOR} × the second`,
          found: ratio(factor),
          met: factor <= MAX_FACTOR,
        },
      ],
    }
  },
})
