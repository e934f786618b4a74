import { EngineErrors } from '../base/engine-errors.ts'
import type { ProtocolError } from '../base/errors.ts'
import { suggestion } from '../base/suggestion.ts'
import { type Attribute, isRelation } from './attribute.ts'
import type { Catalog, DataClass } from './dataclass.ts'

/** Permitted actions on data. Source: protocol notes, 8.4. */
type DataAction = 'create' | 'read' | 'update' | 'drop'

/** Returns true if an action is permitted on a dataclass, or, given that, on one of its attributes. */
export type Policy = (action: DataAction, dataClass: DataClass, attribute?: Attribute) => boolean

/** A dataclass within a view. */
interface ClassView {
  /** In the order of the model. */
  readonly attributes: readonly Attribute[]
  readonly attributesByName: ReadonlyMap<string, Attribute>
}

const NOTHING: ClassView = { attributes: [], attributesByName: new Map() }

/**
 * The catalog within the rights of a caller: unreadable names are absent. Every name in a request is looked up in a view.
 * Immutable.
 */
export class View {
  /** Visible dataclasses. */
  readonly dataClasses: readonly DataClass[]
  private readonly classes = new Map<DataClass, ClassView>()

  /**
   * @param policy undefined to allow everything
   * @param showsPrivate true to include private names, as for the server's own code
   */
  constructor(
    readonly catalog: Catalog,
    private readonly policy: Policy | undefined,
    private readonly showsPrivate = false,
  ) {
    this.dataClasses = catalog.dataClasses.filter(dataClass => this.shows(dataClass))
  }

  /** Dataclass by name, or undefined if it does not exist for the caller. */
  find(name: string): DataClass | undefined {
    const dataClass = this.catalog.dataClassesByName.get(name)
    return dataClass && this.shows(dataClass) ? dataClass : undefined
  }

  /** @throws {EngineErrors.UNKNOWN_DATACLASS} */
  dataClass(name: string): DataClass {
    const dataClass = this.find(name)
    if (!dataClass) throw this.unknownDataClass(name)
    return dataClass
  }

  unknownDataClass(name: string): ProtocolError {
    const names = this.dataClasses.map(each => each.name)
    return EngineErrors.UNKNOWN_DATACLASS(name.slice(0, 200), suggestion(name, names))
  }

  /** Visible attributes; none of an invisible dataclass. */
  attributes(dataClass: DataClass): readonly Attribute[] {
    return this.of(dataClass).attributes
  }

  attribute(dataClass: DataClass, name: string): Attribute | undefined {
    return this.of(dataClass).attributesByName.get(name)
  }

  /** `; did you mean "employer"?` */
  suggestAttribute(dataClass: DataClass, name: string): string {
    const attributeNames = this.attributes(dataClass).map(attribute => attribute.name)
    return suggestion(name, attributeNames)
  }

  shows(what: DataClass | Attribute): boolean {
    if ('dataClass' in what) return this.attribute(what.dataClass, what.name) === what
    return this.includes(what) && this.allows('read', what)
  }

  /** True if an action is permitted. Does not check that the target is readable, which an update or a deletion also requires. */
  may(action: DataAction, dataClass: DataClass, attribute?: Attribute): boolean {
    return this.allows(action, dataClass) && (!attribute || this.allows(action, dataClass, attribute))
  }

  /** Not hidden by the model. */
  includes({ scope }: DataClass | Attribute): boolean {
    return this.showsPrivate || scope === 'public'
  }

  /** True if a policy may forbid something. */
  get isRestricted(): boolean {
    return this.policy !== undefined
  }

  private allows(action: DataAction, dataClass: DataClass, attribute?: Attribute): boolean {
    return !this.policy || this.policy(action, dataClass, attribute)
  }

  private of(dataClass: DataClass): ClassView {
    let view = this.classes.get(dataClass)
    if (!view) {
      view = this.shows(dataClass) ? this.look(dataClass) : NOTHING
      this.classes.set(dataClass, view)
    }
    return view
  }

  private look(dataClass: DataClass): ClassView {
    const attributes = dataClass.attributes.filter(attribute => this.isReadable(attribute))
    return { attributes, attributesByName: new Map(attributes.map(attribute => [attribute.name, attribute])) }
  }

  /**
   * True if an attribute can be read. A relation requires that its target and its foreign key are readable, since it shows the value of the
   * key. An alias can be read whatever its target is, but an alias that ends in a relation is a link and requires a readable target.
   */
  private isReadable(attribute: Attribute): boolean {
    const allows = (other: Attribute): boolean => this.allows('read', other.dataClass, other)
    if (!this.includes(attribute) || !allows(attribute)) return false
    const end = attribute.kind === 'alias' ? attribute.target : attribute
    if (!isRelation(end)) return true
    // The relation at the end of an alias may itself be private: it then reads as null.
    if (attribute.kind === 'alias') return this.allows('read', end.target)
    const { foreignKey } = end.kind === 'relatedEntity' ? end : end.inverse
    return this.includes(end.target) && this.allows('read', end.target) && allows(foreignKey)
  }
}

const views = new WeakMap<Catalog, { client: View; code: View }>()

function viewsOf(catalog: Catalog): { client: View; code: View } {
  let bothViews = views.get(catalog)
  if (!bothViews) {
    bothViews = { client: new View(catalog, undefined), code: new View(catalog, undefined, true) }
    views.set(catalog, bothViews)
  }
  return bothViews
}

/** View of clients without restrictions: everything public. */
export const publicView = (catalog: Catalog): View => viewsOf(catalog).client

/** View of everything, including private names. */
export const wholeView = (catalog: Catalog): View => viewsOf(catalog).code
