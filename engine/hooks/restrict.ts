import type { DataClass } from '../catalog/dataclass.ts'
import { BINDING } from '../language/binding.ts'
import { SelectionBase } from '../language/entity-selection.ts'
import type { Language } from '../language/language.ts'
import { QueryErrors } from '../query/query-errors.ts'
import type { RowSet } from '../row-set/row-set.ts'
import type { EventDetails } from './event-code.ts'
import type { HookedClasses } from './hooked-classes.ts'

/**
 * Asks restrict events which entities of a dataclass may be seen. While the code of one runs, its own dataclass is not
 * restricted.
 * Source: protocol notes, 8.9.
 */
export class Restrictions {
  private readonly asking = new Set<DataClass>()

  constructor(private readonly classes: HookedClasses) {}

  /**
   * @returns undefined when nothing is restricted, or not now
   * @throws {QueryErrors.BAD_RESTRICTION} what the code throws: nothing is seen then
   */
  visible(dataClass: DataClass, language: Language): RowSet | undefined {
    const code = this.classes.restrict(dataClass)
    if (!code || this.asking.has(dataClass)) return undefined
    const { live } = language.whole.table(dataClass)
    this.asking.add(dataClass)
    try {
      return language.run({ canWrite: false, access: undefined }, () =>
        code.names('restrict').reduce((rows, name) => rows.and(ask(dataClass, name, language) ?? live), live),
      )
    } finally {
      this.asking.delete(dataClass)
    }
  }
}

function ask(dataClass: DataClass, name: string, language: Language): RowSet | undefined {
  const { instance } = language.bindings.get(dataClass)!
  const code = (instance as unknown as Record<string, (event: EventDetails) => unknown>)[name]!
  const selection = code.call(instance, { kind: 'restrict', dataClassName: dataClass.name })
  if (selection === undefined || selection === null) return undefined
  if (!(selection instanceof SelectionBase) || selection[BINDING].dataClass !== dataClass) {
    throw QueryErrors.BAD_RESTRICTION(dataClass.name)
  }
  return SelectionBase.rowsOf(selection).set
}
