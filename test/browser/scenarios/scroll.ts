import { isLong } from '../../support/runner/rounds.ts'
import type { Scenario } from '../harness.ts'

/** Positions at which the scroll bar is released, and frames from one to the next. */
const [STOPS, FRAMES] = isLong ? [40, 20] : [8, 10]

/** True if every row in view has loaded, and is the right one: the key of a row is its number. */
const IS_RIGHT = `(rows => rows.length > 0 && rows.every(
  row => row.querySelector('td')?.textContent === String(Number(row.dataset.row) + 1))
)([...document.querySelectorAll('.grid tbody tr')])`

/**
 * A list scrolled from end to end by its bar.
 * @param dataClass has the keys from 1 to `count`, in their order
 */
export const scrolled =
  (dataClass: string, count: number): Scenario =>
  async ({ t, page, open, until, answers }) => {
    await open(dataClass)
    await until('the first rows have come', async () => (await page.locator('.grid tbody tr').count()) > 0)
    for (let stop = 1; stop <= STOPS; stop++) {
      await page.evaluate(`new Promise(done => {
        const grid = document.querySelector('.grid')
        const [from, to] = [grid.scrollTop, (grid.scrollHeight - grid.clientHeight) * ${stop / STOPS}]
        let frame = 0
        const next = () => {
          grid.scrollTop = from + (to - from) * ++frame / ${FRAMES}
          // The rows of a position are there one frame later.
          requestAnimationFrame(frame < ${FRAMES} ? next : done)
        }
        next()
      })`)
      await until(`the rows at ${stop} of ${STOPS} have come`, () => page.evaluate(IS_RIGHT))
    }
    await until('the last row is in view', async () => {
      return (await page.locator(`.grid tr[data-row="${count - 1}"]`).count()) === 1
    })
    const sizes = (await answers()).map(({ bytes }) => bytes)
    t.comment(`${sizes.length} answers, the largest of ${Math.max(...sizes)} bytes`)
  }
