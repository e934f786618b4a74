import { choice } from '../base/chosen.ts'
import { runWork } from '../base/work.ts'
import type { Rows } from './rows.ts'
import { text } from './texts.ts'

/** Chooses all rows of a range, also those that are not loaded. */
export async function chooseRange(rows: Rows, first: number, last: number, key: string): Promise<void> {
  const here: string[] = []
  for (let index = first; index <= last; index++) {
    const entity = rows.at(index)
    if (!entity) break
    if (entity.__KEY !== undefined) here.push(entity.__KEY)
  }
  const isComplete = here.length >= last - first + 1
  const keys = isComplete ? here : await runWork(text('choosing'), ({ signal }) => rows.keys(first, last, key, signal))
  if (keys) choice.value = { isAll: false, keys: new Set(keys) }
}
