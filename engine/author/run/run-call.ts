import type { Binding } from '../data-api/binding.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { isThenable } from '../../base/promised.ts'
import { finderOf, planPage, runPage } from '../../query/source/select.ts'
import type { RunningCall } from '../declare/running-call.ts'
import { asCode, startAs } from '../declare/running-code.ts'
import { convertArguments } from './read-arguments.ts'
import type { CallTask, TaskOutcome } from './tasks.ts'
import type { Streaming } from './result-stream.ts'
import { writeResult } from './write-result.ts'

/** Result of a function that waits; it arrives later and is written then. */
export interface Later {
  readonly later: PromiseLike<unknown>
}

/**
 * Calls a class function.
 * @param values its arguments, parsed
 * @throws {ProtocolError} the request is invalid, or the function throws one; anything else that the function throws
 * Source: protocol notes, 7.
 */
export function runCall(
  task: CallTask,
  values: readonly unknown[],
  codeSession: CodeSession,
  call: RunningCall,
): TaskOutcome | Later | Streaming {
  const target = targetOf(task, codeSession)
  const method = Reflect.get(target, task.function) as unknown
  if (typeof method !== 'function') throw new TypeError(`${task.fullName} is not a function`)
  const args = task.inner ? values : convertArguments(values, task, codeSession)
  const begin = () => Reflect.apply(method, target, args) as unknown
  call.beginsFunction = task.isAsync
  const result = task.inner ? startAs(task.inner, begin) : begin()
  call.beginsFunction = false
  if (asCode(() => isThenable(result))) return { later: result as PromiseLike<unknown> }
  return writeResult(result, task, codeSession)
}

function targetOf({ target, read }: CallTask, codeSession: CodeSession): object {
  switch (target.kind) {
    case 'dataStore':
      return codeSession.dataStore
    case 'singleton':
      return codeSession.singleton(target.className)!
    case 'dataClass':
      return codeSession.binding(read!.dataClass).instance
    case 'entitySelection':
      return selectionOf(codeSession.binding(read!.dataClass), read!, codeSession)
    case 'entity':
      return entityOf(codeSession.binding(read!.dataClass), read!, codeSession)
  }
}

type Read = NonNullable<CallTask['read']>

function selectionOf(binding: Binding, read: Read, codeSession: CodeSession): object {
  // The rows are found when the function first needs them.
  const view = codeSession.views.of(read.access)
  const { dataClass } = binding
  const { context } = codeSession.snapshots
  const from = finderOf(dataClass, context).source(read, view, context)
  return binding.selection({ from, query: codeSession.queries.prepare(dataClass, read, view) })
}

/** @throws {ProtocolError} if the entity does not exist */
function entityOf(binding: Binding, read: Read, codeSession: CodeSession): object {
  const { context } = codeSession.snapshots
  const view = codeSession.views.of(read.access)
  const { rowIds } = runPage(planPage(read, view, codeSession.queries, context), view, context)
  return binding.entity(rowIds[0]!)
}
