import type { Binding } from '../data-api/binding.ts'
import type { Language } from '../data-api/language.ts'
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
  language: Language,
  call: RunningCall,
): TaskOutcome | Later | Streaming {
  const target = targetOf(task, language)
  const method = Reflect.get(target, task.function) as unknown
  if (typeof method !== 'function') throw new TypeError(`${task.fullName} is not a function`)
  const args = task.inner ? values : convertArguments(values, task, language)
  const begin = () => Reflect.apply(method, target, args) as unknown
  call.beginsFunction = task.isAsync
  const result = task.inner ? startAs(task.inner, begin) : begin()
  call.beginsFunction = false
  if (asCode(() => isThenable(result))) return { later: result as PromiseLike<unknown> }
  return writeResult(result, task, language)
}

function targetOf({ target, read }: CallTask, language: Language): object {
  switch (target.kind) {
    case 'dataStore':
      return language.dataStore
    case 'singleton':
      return language.singleton(target.className)!
    case 'dataClass':
      return language.binding(read!.dataClass).instance
    case 'entitySelection':
      return selectionOf(language.binding(read!.dataClass), read!, language)
    case 'entity':
      return entityOf(language.binding(read!.dataClass), read!, language)
  }
}

type Read = NonNullable<CallTask['read']>

function selectionOf(binding: Binding, read: Read, language: Language): object {
  // The rows are found when the function first needs them.
  const view = language.views.of(read.access)
  const { dataClass } = binding
  const { context } = language.snapshots
  const from = finderOf(dataClass, context).source(read, view, context)
  return binding.selection({ from, query: language.queries.prepare(dataClass, read, view) })
}

/** @throws {ProtocolError} if the entity does not exist */
function entityOf(binding: Binding, read: Read, language: Language): object {
  const { context } = language.snapshots
  const view = language.views.of(read.access)
  const { rowIds } = runPage(planPage(read, view, language.queries, context), view, context)
  return binding.entity(rowIds[0]!)
}
