import type { DataClass } from '../../catalog/dataclass.ts'
import { BINDING } from '../data-api/binding.ts'
import { SelectionBase } from '../data-api/entity-selection.ts'
import type { Visible } from '../data-api/entity-hooks.ts'
import type { CodeSession } from '../data-api/code-session.ts'
import { runAs } from '../declare/running-code.ts'
import type { Finder } from '../../query/source/finder.ts'
import { finderOf } from '../../query/source/select.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import type { EventDetails, EventMethod } from './event-code.ts'
import type { HookedClasses } from './hooked-classes.ts'

/** A dataclass whose restrict events are running. */
interface Running {
  readonly dataClass: DataClass
  /** Index of the outermost running dataclass that was read unrestricted for this result. */
  dependsOn: number
}

/**
 * Finds the visible entities of a dataclass with its restrict events. While they run, their own dataclass is unrestricted; other
 * dataclasses are restricted as usual. So the result does not depend on what a request reads first, even if events of several
 * dataclasses refer to each other.
 * Source: protocol notes, 8.9.
 */
export class Restrictions {
  /** Dataclasses whose restrict events are running, innermost last. */
  private readonly runs: Running[] = []
  /** Results for one version of the data that do not depend on a running dataclass, by the rights of the session. */
  private readonly knownByRights = new Map<string, Map<DataClass, Visible | undefined>>()
  private knownVersion = -1

  constructor(private readonly classes: HookedClasses) {}

  /**
   * @returns undefined if the dataclass is not restricted, or not at the moment
   * @throws {QueryErrors.BAD_RESTRICTION} or what the code throws: nothing is visible then
   */
  visible(dataClass: DataClass, codeSession: CodeSession): Visible | undefined {
    const code = this.classes.restrict(dataClass)
    if (!code) return undefined
    const { runs, knownByRights } = this
    const index = runs.findIndex(each => each.dataClass === dataClass)
    if (index >= 0) {
      for (const inner of runs.slice(index + 1)) inner.dependsOn = Math.min(inner.dependsOn, index)
      return undefined
    }
    if (this.knownVersion !== codeSession.snapshots.version) {
      knownByRights.clear()
      this.knownVersion = codeSession.snapshots.version
    }
    const knownResults = knownByRights.get(codeSession.scope.rightsKey) ?? new Map<DataClass, Visible | undefined>()
    knownByRights.set(codeSession.scope.rightsKey, knownResults)
    if (knownResults.has(dataClass)) return knownResults.get(dataClass)
    const { unrestricted } = codeSession.snapshots
    const ownRun: Running = { dataClass, dependsOn: runs.length }
    const restricting = codeSession.snapshots.restrict(unrestricted, other => this.visible(other, codeSession))
    runs.push(ownRun)
    try {
      const rows = codeSession.scope.run({ canWrite: false, access: undefined, restricting }, () => {
        const selections = code.ofWhole('restrict').flatMap(method => ask(dataClass, method, codeSession) ?? [])
        return selections.length > 0
          ? visibleIn(selections, finderOf(dataClass, codeSession.snapshots.context))
          : undefined
      })
      if (ownRun.dependsOn === runs.length - 1) knownResults.set(dataClass, rows)
      return rows
    } finally {
      runs.pop()
    }
  }
}

/** The entities that are in all of some selections. */
const visibleIn = (selections: readonly SelectionBase[], { question }: Finder): Visible =>
  question
    ? selections.map(SelectionBase.conditionOf)
    : selections.map(each => SelectionBase.rowsOf(each).set).reduce((all, each) => all.and(each))

function ask(dataClass: DataClass, { name, place }: EventMethod, codeSession: CodeSession): SelectionBase | undefined {
  const { instance } = codeSession.bindings.get(dataClass)!
  const code = (instance as unknown as Record<string, (event: EventDetails) => unknown>)[name]!
  const selection = runAs(place, () => code.call(instance, { kind: 'restrict', dataClassName: dataClass.name }))
  if (selection === undefined || selection === null) return undefined
  // Treating anything else as "no filter" would show everything.
  if (!(selection instanceof SelectionBase) || selection[BINDING].dataClass !== dataClass) {
    throw QueryErrors.BAD_RESTRICTION(dataClass.name)
  }
  return selection
}
