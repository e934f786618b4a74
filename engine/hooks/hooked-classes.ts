import type { CalculatedDeclaration } from '../catalog/add-calculated.ts'
import type { StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { EventKind } from '../language/decorators.ts'
import type { ClassDescriptor } from '../language/describe-classes.ts'
import { storedCalculated } from '../storage/calculated.ts'
import { EventCode } from './event-code.ts'

const SAVE_EVENTS: readonly EventKind[] = ['constructor', 'touched', 'validateSave', 'saving', 'afterSave', 'restrict']
const DROP_EVENTS: readonly EventKind[] = ['validateDrop', 'dropping', 'afterDrop']

/** Which dataclasses have code around saves, drops and reads, as the classes of authors declare it. */
export class HookedClasses {
  private readonly byName = new Map<string, EventCode>()
  private readonly restricting = new Map<string, EventCode>()
  private readonly onDropCache = new Map<DataClass, boolean>()

  constructor(classes: readonly ClassDescriptor[]) {
    for (const { kind, dataClass, members } of classes) {
      if (kind === 'entity') this.byName.set(dataClass!, new EventCode(dataClass!, members))
    }
    // The restrict event belongs to the class of the dataclass.
    for (const { kind, dataClass, members } of classes) {
      if (kind === 'dataClass') this.restricting.set(dataClass!, new EventCode(dataClass!, members))
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

  /** Whether a save has to be looked at by code first. */
  onSave(dataClass: DataClass): boolean {
    const events = this.events(dataClass)
    return (
      this.stored(dataClass).length > 0 ||
      SAVE_EVENTS.some(kind => events?.has(kind)) ||
      this.restrict(dataClass) !== undefined ||
      dataClass.attributes.some(attribute => attribute.kind === 'calculated' && attribute.calculation?.settable)
    )
  }

  hasDropEvents(dataClass: DataClass): boolean {
    const events = this.events(dataClass)
    return DROP_EVENTS.some(kind => events?.has(kind))
  }

  /** Whether a deletion of an entity may reach one that code has to look at first. */
  onDrop(dataClass: DataClass): boolean {
    let known = this.onDropCache.get(dataClass)
    if (known === undefined) {
      known = this.reach(dataClass).length > 0
      this.onDropCache.set(dataClass, known)
    }
    return known
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
  stored(dataClass: DataClass): StorageAttribute[] {
    return storedCalculated(dataClass).filter(({ calculation }) => calculation!.fingerprint !== '')
  }
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
                  simpleDate: member.simpleDate,
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
