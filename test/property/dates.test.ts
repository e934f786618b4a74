/**
 * The reader of dates against a naive one, which reads character by character: moments in each form of `plugins/docs/pages/guide/model.md` are read back, and
 * texts that differ from such a form in some characters are the same moment for both readers, or a date for neither.
 *
 *   TESSER_TEST_SEED=42 node dist/test/property/dates.test.js      repeats a run
 */
import t from 'tap'
import { parseDate, parseDay } from '../../engine/base/time/read-date.ts'
import { DATE_FORMS, type DateForm } from '../support/reference/date-forms.ts'
import { type Random, randomOf } from '../support/base/random.ts'
import { naiveDate } from '../support/reference/read-date.ts'
import { isLong, longCount, seedOf, timeoutMs } from '../support/runner/rounds.ts'

const MOMENTS = isLong ? longCount(20_000) : 400
const CHANGES = 10
const SIGNS = [...'0123456789-+:., TtZz!/[]BCU']

t.setTimeout(timeoutMs)

const startOf = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1)

function randomMoment({ years: [first, last] = [0, 9999], precision }: DateForm, random: Random): number {
  const year = random.integer(first, last)
  const ms = startOf(year) + random.integer(0, 365 * 86_400 - 1) * 1000 + random.integer(0, 999)
  return Math.floor(ms / precision) * precision
}

/** The text with one character more, one less, or another one. */
function changed(text: string, random: Random): string {
  const at = random.integer(0, text.length - 1)
  const kind = random.integer(0, 2)
  const sign = random.pick(SIGNS)
  return text.slice(0, at) + (kind === 2 ? '' : sign) + text.slice(kind === 0 ? at : at + 1)
}

for (const [name, form] of Object.entries(DATE_FORMS)) {
  t.test(name, async t => {
    const random = randomOf(seedOf())
    const wrong: string[] = []
    const count = { read: 0, refused: 0 }
    for (let i = 0; i < MOMENTS; i++) {
      const ms = randomMoment(form, random)
      const text = form.write(ms, random)
      if (parseDate(text) !== ms) wrong.push(`${text} is ${parseDate(text)} and not ${ms}`)
      for (let j = 0; j < CHANGES; j++) {
        let other = changed(text, random)
        if (random.integer(0, 3) === 0) other = changed(other, random)
        const expected = naiveDate(other)
        if (parseDate(other) !== expected?.ms || parseDay(other) !== expected?.day)
          wrong.push(`${other} is ${parseDate(other)}, day ${parseDay(other)}, and not ${JSON.stringify(expected)}`)
        count[expected ? 'read' : 'refused']++
      }
    }
    t.strictSame(wrong.slice(0, 10), [])
    t.ok(count.refused > MOMENTS, `${count.refused} changed texts are refused, ${count.read} are other dates`)
  })
}
