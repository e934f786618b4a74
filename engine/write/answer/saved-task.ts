import type { TaskKind } from '../../query/tasks/task-kind.ts'
import { costOfEntities } from '../../query/tasks/answer-cost.ts'
import { MICROSECONDS } from '../../query/estimate/costs.ts'
import { PackedResult, type PackedSave } from '../contract/packed-result.ts'
import type { SaveRequest, SaveResult } from '../contract/requests.ts'
import { prepareSaved, savedWriter } from './answer-saved.ts'

export interface SavedArgs {
  readonly mode: SaveRequest['mode']
  readonly atomic: boolean
  readonly result: SaveResult | PackedSave
}

/** The answer to a completed save. Only the output and the access of the request are used. */
export const savedTask: TaskKind<SavedArgs> = {
  plan(
    { dataClass: name, output, access },
    { mode, atomic, result: saveResult },
    { views, layouts, limits, isTrial },
    context,
  ) {
    const { snapshot } = context
    const view = views.of(access)
    // Creating does not require read permission.
    const dataClass = view.catalog.dataClassesByName.get(name)!
    const isPacked = 'rows' in saveResult
    return {
      searches: [],
      cost: () =>
        isPacked
          ? Number.POSITIVE_INFINITY
          : MICROSECONDS.request + costOfEntities(output, dataClass, saveResult.entities.length, snapshot),
      run() {
        const prepare = isTrial ? savedWriter : prepareSaved
        const write = prepare(dataClass, { mode, atomic, output }, { view, layouts, limits })
        return write(isPacked ? new PackedResult(saveResult) : saveResult, snapshot, context)
      },
    }
  },
}
