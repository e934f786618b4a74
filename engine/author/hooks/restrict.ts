import type { DataClass } from '../../catalog/dataclass.ts'
import { BINDING } from '../data-api/binding.ts'
import { SelectionBase } from '../data-api/entity-selection.ts'
import type { Language } from '../data-api/language.ts'
import { runAs } from '../declare/running-code.ts'
import { QueryErrors } from '../../query/contract/query-errors.ts'
import type { RowSet } from '../../row-set/row-set.ts'
import { RestrictedSnapshot } from '../../data/restricted-snapshot.ts'
import type { EventDetails, EventMethod } from './event-code.ts'
import type { HookedClasses } from './hooked-classes.ts'

/** A dataclass whose restrict events run. */
interface Running {
  readonly dataClass: DataClass
  /** Index of the first running dataclass on whose being unrestricted the result depends. */
  dependsOn: number
}

/**
 * Asks restrict events which entities of a dataclass may be seen. While they run, their own dataclass is not restricted, and
 * the others are as restricted as they are for everyone else. So the result does not depend on what a request reads first,
 * also where events of several dataclasses refer to each other.
 * Source: protocol notes, 8.9.
 */
export class Restrictions {
  /** The innermost last. */
  private readonly running: Running[] = []
  /** Results that depend on no running dataclass, of one version of the data. */
  private readonly known = new Map<DataClass, RowSet | undefined>()
  private knownVersion = -1

  constructor(private readonly classes: HookedClasses) {}

  /**
   * @returns undefined when nothing is restricted, or not now
   * @throws {QueryErrors.BAD_RESTRICTION} what the code throws: nothing is seen then
   */
  visible(dataClass: DataClass, language: Language): RowSet | undefined {
    const code = this.classes.restrict(dataClass)
    if (!code) return undefined
    const { running, known } = this
    const index = running.findIndex(each => each.dataClass === dataClass)
    if (index >= 0) {
      for (const inner of running.slice(index + 1)) inner.dependsOn = Math.min(inner.dependsOn, index)
      return undefined
    }
    if (this.knownVersion !== language.version) {
      known.clear()
      this.knownVersion = language.version
    }
    if (known.has(dataClass)) return known.get(dataClass)
    const { unrestricted } = language
    const own: Running = { dataClass, dependsOn: running.length }
    const restricting = new RestrictedSnapshot(unrestricted, other => this.visible(other, language))
    running.push(own)
    try {
      const rows = language.run({ canWrite: false, access: undefined, restricting }, () =>
        code
          .ofWhole('restrict')
          .flatMap(method => ask(dataClass, method, language) ?? [])
          .reduce<RowSet | undefined>((all, each) => all?.and(each) ?? each, undefined),
      )
      if (own.dependsOn === running.length - 1) known.set(dataClass, rows)
      return rows
    } finally {
      running.pop()
    }
  }
}

function ask(dataClass: DataClass, { name, place }: EventMethod, language: Language): RowSet | undefined {
  const { instance } = language.bindings.get(dataClass)!
  const code = (instance as unknown as Record<string, (event: EventDetails) => unknown>)[name]!
  const selection = runAs(place, () => code.call(instance, { kind: 'restrict', dataClassName: dataClass.name }))
  if (selection === undefined || selection === null) return undefined
  if (!(selection instanceof SelectionBase) || selection[BINDING].dataClass !== dataClass) {
    throw QueryErrors.BAD_RESTRICTION(dataClass.name)
  }
  return SelectionBase.rowsOf(selection).set
}
