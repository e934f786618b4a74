import { membersTask } from '../entity-set/members-task.ts'
import { readTask } from '../query/pipeline.ts'
import { rowIdsTask } from '../query/tasks/row-ids-task.ts'
import { savedTask } from '../write/answer/saved-task.ts'
import { strict as assert } from 'node:assert'
import { messageWithPlace } from '../author/declare/place.ts'
import { pluginTask, type TaskFunction } from '../query/tasks/plugin-task.ts'
import type { TaskKind, TaskRegistry } from '../query/tasks/task-kind.ts'
import type { TaskModule } from '../query/tasks/task.ts'
import { computeTask, distinctTask, keysTask } from '../query/tasks/value-tasks.ts'

/** Kinds of tasks besides those of plugins. */
const BUILT_IN: readonly (readonly [string, TaskKind<never>])[] = [
  ['read', readTask],
  ['rowIds', rowIdsTask],
  ['members', membersTask],
  ['saved', savedTask],
  ['compute', computeTask],
  ['distinct', distinctTask],
  ['keys', keysTask],
]

/** Placeholder for plugin tasks in the kernel thread, where their code never runs: its cost is infinite. */
const ELSEWHERE: TaskKind = {
  plan: () => ({ cost: () => Number.POSITIVE_INFINITY, searches: [], run: () => assert.fail('it runs in the pool') }),
}

/** The registry of the kernel thread, without plugin code. */
export const kernelRegistry = (modules: readonly TaskModule[]): TaskRegistry =>
  registryOf(modules.map(({ name }) => [name, ELSEWHERE]))

interface LoadedTasks {
  readonly registry: TaskRegistry
  /** Reasons why modules cannot be used. */
  readonly problems: readonly string[]
}

/** Imports the modules of plugins. A module that fails leaves the thread alive; the start of the server reports it. */
export async function loadTasks(modules: readonly TaskModule[]): Promise<LoadedTasks> {
  // Makes stack traces name source files of plugins, not their bundles.
  if (modules.length > 0) process.setSourceMapsEnabled(true)
  const problems: string[] = []
  const kinds: [string, TaskKind][] = []
  for (const module of modules) {
    try {
      const { default: run } = (await import(module.url)) as { default?: unknown }
      if (typeof run !== 'function')
        throw new Error('its default export is not a function; export default (store, args) => …')
      kinds.push([module.name, pluginTask(module, run as TaskFunction)])
    } catch (error) {
      problems.push(`plugin ${module.plugin}: the task ${module.source} cannot be loaded: ${messageWithPlace(error)}`)
    }
  }
  return { registry: registryOf(kinds), problems }
}

const registryOf = (kinds: readonly (readonly [string, TaskKind])[]): TaskRegistry => new Map([...BUILT_IN, ...kinds])
