import { setTimeout as delay } from 'node:timers/promises'
import { parseQuery } from './parse-query.ts'

/** Queries with the forms of the grammar that filters use. */
export const WARM_UP_QUERIES = [
  'name = "a text@" and (population > 100000 or not (isCapital = true and area.size <= 12.5)) order by name',
  'employer.manager.name != null or not (status in [1, "open", closed]) except ID = :1',
  'a begin \'x\' && (b > :name || c < -3.5) & d % "two words" | e[] === :2',
  '((((((((a = 1 or b = 2) and c = 3) or d = 4) and e = 5) or f = 6) and g = 7) or h = 8) and i = 9)',
  'lines[].price >= 10 and a is not "b" or not(c == null) order by a.b desc, c asc, d',
]
/** Texts with errors. Separate code analyses them. */
const WARM_UP_ERRORS = ['(a = 1 and ((b = 2 or c = 3) and (d =', 'a = 1 or not ((b = 2)) and )']
const ROUNDS = 16
const FIRST_MS = 100
const PAUSE_MS = 10

/**
 * Parses some queries, so that V8 compiles the parser before a client waits for it: an interpreted parse takes up to ten times as long. The
 * port is already open by then, so that this does not delay the start. One query at a time, so that requests can interleave. Does not keep
 * the process running.
 */
export async function warmUpGrammar(): Promise<void> {
  await delay(FIRST_MS, undefined, { ref: false })
  for (let i = 0; i < ROUNDS; i++) {
    for (const query of WARM_UP_QUERIES) {
      parseQuery(query)
      await delay(PAUSE_MS, undefined, { ref: false })
    }
    for (const text of WARM_UP_ERRORS) {
      try {
        parseQuery(text)
      } catch {}
      await delay(PAUSE_MS, undefined, { ref: false })
    }
  }
}
