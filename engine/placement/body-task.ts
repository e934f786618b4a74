import { move } from 'piscina'
import { ProtocolError } from '../base/errors.ts'
import { jsonMembers } from '../base/json-members.ts'
import { QueryBudget } from '../query/scan/query-budget.ts'
import type { BodyParts } from '../write/contract/requests.ts'
import { splitBody } from '../write/split-body.ts'
import type { BodyTask, PoolMessage, PoolOutcome, PoolThreadOptions } from './tasks.ts'

/** Runs a {@link BodyTask} in a thread of the pool, until its deadline or until its caller disconnects. */
export function runBodyTask(
  { task, deadlineAt, slot }: PoolMessage<BodyTask>,
  { limits: { timeoutMs }, cancelled }: PoolThreadOptions,
): PoolOutcome {
  const isCancelled = () => Atomics.load(cancelled, slot) === 1
  const budget = new QueryBudget({ timeoutMs, deadlineAt, isCancelled })
  try {
    const answer = task.kind === 'members' ? Buffer.from(membersText(task)) : parts(task, () => budget.examine(0))
    return move(new Uint8Array(answer)) as unknown as Uint8Array
  } catch (error) {
    return error instanceof ProtocolError ? { error: error.toData() } : { fault: error }
  }
}

const membersText = ({ body, bounds }: BodyTask & { kind: 'members' }): string =>
  JSON.stringify(jsonMembers(body, bounds))

function parts({ body, limits }: BodyTask & { kind: 'split' }, between: () => void): ArrayBuffer {
  const { many, ranges } = splitBody(body, limits, between)
  return Uint32Array.of(many ? 1 : 0, ...ranges).buffer
}

/** Decodes the answer of a {@link BodyTask} of kind `split`. */
export function readParts({ buffer, byteOffset, byteLength }: Uint8Array): BodyParts {
  const [many, ...ranges] = new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)
  return { many: many === 1, ranges: Uint32Array.from(ranges) }
}
