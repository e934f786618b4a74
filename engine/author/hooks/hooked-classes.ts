import type { CalculatedDeclaration } from '../../catalog/add-calculated.ts'
import type { StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { EventKind } from '../declare/decorators.ts'
import type { ClassDescriptor } from '../declare/describe-classes.ts'
import { storedCalculated } from '../../catalog/calculated.ts'
import { parameterOptions } from '../../catalog/types/parameters.ts'
import { EventCode } from './event-code.ts'

const SAVE_EVENTS: readonly EventKind[] = ['constructor', 'touched', 'validateSave', 'saving', 'afterSave', 'restrict']
const DROP_EVENTS: readonly EventKind[] = ['validateDrop', 'dropping', 'afterDrop']

/** Which dataclasses have code around saves, drops and reads, as the classes of authors declare it. */
export class HookedClasses {
  private readonly byName = new Map<string, EventCode>()
  private readonly restricting = new Map<string, EventCode>()
  private readonly calculated = new Map<string, ReadonlySet<string>>()
  private readonly known = {
    stored: new WeakMap<DataClass, readonly StorageAttribute[]>(),
    onSave: new WeakMap<DataClass, boolean>(),
    onDrop: new WeakMap<DataClass, boolean>(),
  }

  constructor(classes: readonly ClassDescriptor[]) {
    for (const described of classes) {
      const { kind, dataClass, members } = described
      // The restrict event belongs to the class of the dataclass.
      if (kind === 'dataClass') this.restricting.set(dataClass!, new EventCode(dataClass!, described))
      if (kind !== 'entity') continue
      this.byName.set(dataClass!, new EventCode(dataClass!, described))
      this.calculated.set(
        dataClass!,
        new Set(members.filter(member => member.kind === 'calculated').map(({ name }) => name)),
      )
    }
  }

  events({ name }: DataClass): EventCode | undefined {
    return this.byName.get(name)
  }

  /** The code that says which entities may be seen at all. */
  restrict({ name }: DataClass): EventCode | undefined {
    const code = this.restricting.get(name)
    return code?.has('restrict') ? code : undefined
  }

  /** Names of the dataclasses of which not everything may be seen. */
  get restricted(): ReadonlySet<string> {
    return new Set([...this.restricting].filter(([, code]) => code.has('restrict')).map(([name]) => name))
  }

  /** Whether a save has to be looked at by code first. */
  onSave(dataClass: DataClass): boolean {
    return remember(this.known.onSave, dataClass, () => {
      const events = this.events(dataClass)
      return (
        this.stored(dataClass).length > 0 ||
        SAVE_EVENTS.some(kind => events?.has(kind)) ||
        this.restrict(dataClass) !== undefined ||
        dataClass.attributes.some(attribute => {
          // Whether its value is the one that is sent back depends on what the caller may see of the entities on its way.
          if (attribute.kind === 'alias' && attribute.relations.some(({ target }) => this.restrict(target))) return true
          // Its setter gets what is sent; without one it is for code to say whether the value is the one that is sent back.
          const end = attribute.kind === 'alias' ? attribute.target : attribute
          return end.kind === 'calculated' && this.hasCode(end)
        })
      )
    })
  }

  hasDropEvents(dataClass: DataClass): boolean {
    const events = this.events(dataClass)
    return DROP_EVENTS.some(kind => events?.has(kind))
  }

  /** Whether a deletion of an entity may reach one that code has to look at first. */
  onDrop(dataClass: DataClass): boolean {
    return remember(this.known.onDrop, dataClass, () => this.reach(dataClass).length > 0)
  }

  /** Dataclasses that a deletion of an entity may reach, and whose code has to look at what becomes of theirs. */
  reach(dataClass: DataClass): DataClass[] {
    const deleted = new Set([dataClass])
    const unlinked = new Set<DataClass>()
    for (const each of deleted) {
      for (const relation of each.referencedBy) {
        if (relation.onDelete === 'cascade') deleted.add(relation.dataClass)
        else if (relation.onDelete === 'setNull') unlinked.add(relation.dataClass)
      }
    }
    const found = new Set([...deleted].filter(each => this.hasDropEvents(each)))
    for (const each of unlinked) if (this.stored(each).length > 0) found.add(each)
    return [...found]
  }

  /** Stored calculated attributes that have code. */
  stored(dataClass: DataClass): readonly StorageAttribute[] {
    return remember(this.known.stored, dataClass, () =>
      storedCalculated(dataClass).filter(attribute => this.hasCode(attribute)),
    )
  }

  private hasCode({ dataClass, name }: ValueAttribute): boolean {
    return this.calculated.get(dataClass.name)?.has(name) ?? false
  }
}

function remember<T>(known: WeakMap<DataClass, T>, dataClass: DataClass, find: () => T): T {
  const found = known.get(dataClass) ?? find()
  known.set(dataClass, found)
  return found
}

/** The calculated attributes that classes declare. */
export function calculatedDeclarations(classes: readonly ClassDescriptor[]): CalculatedDeclaration[] {
  return classes.flatMap(({ kind, dataClass, members, setters, fingerprints }) =>
    kind !== 'entity'
      ? []
      : members.flatMap(member =>
          member.kind !== 'calculated'
            ? []
            : [
                {
                  dataClass: dataClass!,
                  name: member.name,
                  type: member.type,
                  ...parameterOptions(member),
                  stored: member.stored,
                  indexed: member.indexed,
                  exposed: member.exposed !== false,
                  settable: setters.includes(member.name),
                  fingerprint: fingerprints[member.name]!,
                },
              ],
        ),
  )
}
