import type { CalculatedDeclaration } from '../../catalog/add-calculated.ts'
import type { StorageAttribute, ValueAttribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { EventKind } from '../declare/event-types.ts'
import type { ClassDescriptor } from '../declare/describe-classes.ts'
import { storedCalculated } from '../../catalog/calculated.ts'
import { parameterOptions } from '../../catalog/types/parameters.ts'
import { EventCode } from './event-code.ts'

const SAVE_EVENTS: readonly EventKind[] = ['constructor', 'touched', 'validateSave', 'saving', 'afterSave', 'restrict']
const DROP_EVENTS: readonly EventKind[] = ['validateDrop', 'dropping', 'afterDrop']
/** Events whose reads decide about a save or a deletion. */
const DECIDING_EVENTS: readonly EventKind[] = [
  'constructor',
  'touched',
  'validateSave',
  'saving',
  'validateDrop',
  'dropping',
]

/** Dataclasses with code around saves, drops and reads, as plugin classes declare it. */
export class HookedClasses {
  private readonly byName = new Map<string, EventCode>()
  private readonly restricting = new Map<string, EventCode>()
  private readonly calculated = new Map<string, ReadonlySet<string>>()
  private readonly cache = {
    stored: new WeakMap<DataClass, readonly StorageAttribute[]>(),
    onSave: new WeakMap<DataClass, boolean>(),
    onDrop: new WeakMap<DataClass, boolean>(),
  }

  constructor(classes: readonly ClassDescriptor[]) {
    for (const descriptor of classes) {
      const { kind, dataClass, members } = descriptor
      // The restrict event belongs to the class of the dataclass.
      if (kind === 'dataClass') this.restricting.set(dataClass!, new EventCode(dataClass!, descriptor))
      if (kind !== 'entity') continue
      this.byName.set(dataClass!, new EventCode(dataClass!, descriptor))
      this.calculated.set(
        dataClass!,
        new Set(members.filter(member => member.kind === 'calculated').map(({ name }) => name)),
      )
    }
  }

  events({ name }: DataClass): EventCode | undefined {
    return this.byName.get(name)
  }

  /** Code that determines the visible entities of a dataclass. */
  restrict({ name }: DataClass): EventCode | undefined {
    const code = this.restricting.get(name)
    return code?.has('restrict') ? code : undefined
  }

  /** Names of the dataclasses with restrict events. */
  get restricted(): ReadonlySet<string> {
    return new Set([...this.restricting].filter(([, code]) => code.has('restrict')).map(([name]) => name))
  }

  /** True if a save has to pass through plugin code first. */
  onSave(dataClass: DataClass): boolean {
    return remember(this.cache.onSave, dataClass, () => {
      const events = this.events(dataClass)
      return (
        this.storedAttributes(dataClass).length > 0 ||
        SAVE_EVENTS.some(kind => events?.has(kind)) ||
        this.restrict(dataClass) !== undefined ||
        dataClass.attributes.some(attribute => {
          // Whether a sent value is unchanged depends on which entities of the path the caller may see.
          if (attribute.kind === 'alias' && attribute.relations.some(({ target }) => this.restrict(target))) return true
          // A setter receives the sent value; without one, code decides whether the sent value is unchanged.
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

  /** True if the deletion of an entity may reach one that has to pass through plugin code first. */
  onDrop(dataClass: DataClass): boolean {
    return remember(this.cache.onDrop, dataClass, () => this.reach(dataClass).length > 0)
  }

  /**
   * Dataclasses that the deletion of an entity may reach and that have code for it: drop events or stored calculated values.
   */
  reach(dataClass: DataClass): DataClass[] {
    const deletedClasses = new Set([dataClass])
    const unlinkedClasses = new Set<DataClass>()
    for (const each of deletedClasses) {
      for (const relation of each.referencedBy) {
        if (relation.onDelete === 'cascade') deletedClasses.add(relation.dataClass)
        else if (relation.onDelete === 'setNull') unlinkedClasses.add(relation.dataClass)
      }
    }
    const hookedClasses = new Set([...deletedClasses].filter(each => this.hasDropEvents(each)))
    for (const each of unlinkedClasses) if (this.storedAttributes(each).length > 0) hookedClasses.add(each)
    return [...hookedClasses]
  }

  /** True if saves or deletions of entities of a dataclass depend on what code reads. */
  decides(dataClass: DataClass): boolean {
    const events = this.events(dataClass)
    return this.storedAttributes(dataClass).length > 0 || DECIDING_EVENTS.some(kind => events?.has(kind))
  }

  /** Stored calculated attributes that have code. */
  storedAttributes(dataClass: DataClass): readonly StorageAttribute[] {
    return remember(this.cache.stored, dataClass, () =>
      storedCalculated(dataClass).filter(attribute => this.hasCode(attribute)),
    )
  }

  private hasCode({ dataClass, name }: ValueAttribute): boolean {
    return this.calculated.get(dataClass.name)?.has(name) ?? false
  }
}

function remember<T>(cache: WeakMap<DataClass, T>, dataClass: DataClass, find: () => T): T {
  const value = cache.get(dataClass) ?? find()
  cache.set(dataClass, value)
  return value
}

/** Calculated attributes that classes declare. */
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
                  unrestricted: member.unrestricted,
                  fingerprint: fingerprints[member.name]!,
                },
              ],
        ),
  )
}
