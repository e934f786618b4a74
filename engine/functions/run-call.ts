import type { Binding } from '../language/binding.ts'
import type { Language } from '../language/language.ts'
import { openSource } from '../query/execute/open-source.ts'
import { prepareQuery } from '../query/plan/query-cache.ts'
import { planPage, runPage } from '../query/select.ts'
import { FunctionErrors } from './function-errors.ts'
import { readArguments } from './read-arguments.ts'
import type { FunctionScope } from './run-task.ts'
import type { CallTask, TaskOutcome } from './tasks.ts'
import { writeResult } from './write-result.ts'

/**
 * Calls a class function.
 * @throws {ProtocolError} whatever is wrong with the request or was thrown as such; anything else that the function throws
 * Source: protocol notes, 7.
 */
export function runCall(task: CallTask, scope: FunctionScope): TaskOutcome {
  const { language } = scope
  const target = targetOf(task, language)
  const called = Reflect.get(target, task.function) as unknown
  if (typeof called !== 'function') throw new TypeError(`${task.fullName} is not a function`)
  const result = Reflect.apply(called, target, readArguments(task, language)) as unknown
  if (isThenable(result)) {
    // What becomes of it must not end the thread: nobody is told.
    result.then(undefined, () => {})
    throw FunctionErrors.BAD_RESULT(
      task.fullName,
      'it is a promise; functions run synchronously, on one state of the data',
    )
  }
  return writeResult(result, task, scope)
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
  // Found when the function first asks for it.
  const view = language.views.of(read.access)
  const { rows } = openSource(read, view, language.context)
  return binding.selection({ from: rows, query: prepareQuery(binding.dataClass, read, view) })
}

/** @throws {ProtocolError} when there is none */
function entityOf(binding: Binding, read: Read, language: Language): object {
  const { context } = language
  const view = language.views.of(read.access)
  const { rowIds } = runPage(planPage(read, view, context.snapshot), view, context)
  return binding.entity(rowIds[0]!)
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
