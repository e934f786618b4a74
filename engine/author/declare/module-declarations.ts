import { placeOfCaller } from './place.ts'

/** Place of a declaration, for messages and log lines. Known only for classes that a function thread has loaded. */
export interface Origin {
  /** Plugin that the module belongs to. */
  readonly plugin?: string
  /** File and line in the source: `/acme/classes.ts:12`. */
  readonly place?: string
}

/** A class that a module declares, identified by its generated base class or by the metadata of its decorators. */
interface Declared {
  /** The base class, or the metadata of the decorators. */
  readonly mark: object
  /** Name of its base class; undefined: not a class of `tesser/classes`. */
  readonly base: string | undefined
  readonly place: string | undefined
}

let importing: ModuleDeclarations | undefined
const originOfBase = new WeakMap<object, Origin>()
/** Base classes by their metadata, which is the prototype of the metadata of every class that extends them. */
const nameOfBase = new WeakMap<object, { readonly name: string; readonly isNoted: boolean }>()

/** The classes that one module of a plugin declares, exported or not, recorded while it is imported. */
export class ModuleDeclarations {
  private readonly declarations = new Map<object, Declared>()

  constructor(readonly plugin: string) {}

  /** Runs `load`; all declarations during it belong to this module. Modules are imported one after the other. */
  async during<T>(load: () => Promise<T>): Promise<T> {
    importing = this
    try {
      return await load()
    } finally {
      importing = undefined
    }
  }

  add(declaration: Declared): void {
    if (!this.declarations.has(declaration.mark)) this.declarations.set(declaration.mark, declaration)
  }

  /** Classes that are neither exported nor extended by an exported one. @param marks see {@link marksOf} */
  unexported(marks: ReadonlySet<object>): Declared[] {
    return [...this.declarations.values()].filter(({ mark }) => !marks.has(mark))
  }

  /** Places of the exported classes. */
  exportedPlaces(marks: ReadonlySet<object>): string[] {
    return [...this.declarations.values()].flatMap(({ mark, place }) => (marks.has(mark) ? (place ?? []) : []))
  }
}

/** Everything that identifies a declared class: the class and its base classes, and their decorator metadata. */
export function marksOf(authorClass: object, metadata: readonly object[]): object[] {
  const marks = [...metadata]
  for (let base: object | null = authorClass; base; base = Object.getPrototypeOf(base) as object | null)
    marks.push(base)
  return marks
}

/** Origin of the member that a decorator is recording. @param decorator the decorator, which the plugin's module calls */
export function originOfMember(metadata: object, decorator: (...args: never[]) => unknown): Origin {
  if (!importing) return {}
  const place = placeOfCaller(decorator)
  const base = baseOf(metadata)
  if (!base?.isNoted) importing.add({ mark: metadata, base: base?.name, place })
  return { plugin: importing.plugin, ...(place !== undefined && { place }) }
}

function baseOf(metadata: object): { name: string; isNoted: boolean } | undefined {
  for (let each: object | null = metadata; each; each = Object.getPrototypeOf(each) as object | null) {
    const base = nameOfBase.get(each)
    if (base) return base
  }
  return undefined
}

/** Names a shared base class, such as `DataStore`. @param metadata from which the metadata of its subclasses inherits */
export function nameBase(metadata: object, name: string): void {
  nameOfBase.set(metadata, { name, isNoted: false })
}

/** Records a base class that a factory makes. @param factory the factory, which the plugin's module calls */
export function noteBase(base: object, metadata: object, name: string, factory: (name: never) => unknown): void {
  if (!importing) return
  nameOfBase.set(metadata, { name, isNoted: true })
  const place = placeOfCaller(factory)
  importing.add({ mark: base, base: name, place })
  originOfBase.set(base, { plugin: importing.plugin, ...(place !== undefined && { place }) })
}

/** Origin of a class that extends a base class recorded by {@link noteBase}. */
export function originOfClass(authorClass: object): Origin | undefined {
  for (let base: object | null = authorClass; base; base = Object.getPrototypeOf(base) as object | null) {
    const origin = originOfBase.get(base)
    if (origin) return origin
  }
  return undefined
}
