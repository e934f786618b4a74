import type { Snapshot } from '../../storage/snapshot.ts'
import type { QueryBudget } from '../execute/query-budget.ts'
import { ByteWriter } from './byte-writer.ts'
import { indentJson } from './indent-json.ts'
import type { Projection } from './projection.ts'
import { RowWriter } from './row-writer.ts'

/** The one buffer of this thread: an answer is a view of it, valid until the next one is started. */
const out = new ByteWriter()

/** @param budget is asked for every row; without one the answer is written to its end */
export function startAnswer(projection: Projection, snapshot: Snapshot, budget?: QueryBudget): RowWriter {
  out.begin(projection.maxBytes)
  return new RowWriter(out, projection, snapshot, budget)
}

/** @param start where the answer begins; the related rows lie in front of it */
export function finishAnswer({ projection }: RowWriter, start: number): Uint8Array {
  if (!projection.pretty) return out.since(start)
  const end = out.length
  indentJson(out.since(start), out)
  return out.since(end)
}
