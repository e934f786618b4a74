import type { Member } from './members.ts'
import type { ClassDescriptor, ClassKind } from './describe-classes.ts'
import { type CodePlace, placeOf } from './running-code.ts'
import type { FunctionSignature } from './signature.ts'

/** Target of a class function. */
export type CallTarget =
  | { readonly kind: 'dataStore' }
  | { readonly kind: 'singleton'; readonly className: string }
  | { readonly kind: 'dataClass' }
  | { readonly kind: 'entitySelection' }
  | { readonly kind: 'entity' }

/** A function that clients can call. */
export interface ClassFunction extends FunctionSignature {
  readonly name: string
  /** Class and name, for messages: `Employee.raise`. */
  readonly fullName: string
  readonly target: CallTarget
  /** Dataclass or singleton that it belongs to, `ds` for the datastore; used by permissions. */
  readonly owner: string
  readonly allowedOnHTTPGET: boolean
  readonly deadlineSeconds: number | undefined
  /** It may wait for something outside. */
  readonly isAsync: boolean
  /** A generator: its values are sent as a stream. */
  readonly isStream: boolean
  /** For log lines. */
  readonly place: CodePlace
}

/** True for the function with which guests log in if roles.json demands it: other rules do not apply to it. */
export const isLogin = ({ target, name }: ClassFunction): boolean =>
  target.kind === 'dataStore' && name === 'authentify'

type MayCall = (called: ClassFunction) => boolean
type Functions = ReadonlyMap<string, ClassFunction>
const NONE: Functions = new Map()

/** The exposed functions of all classes, by their targets. Source: protocol notes, 7.1. */
export class ClassRegistry {
  readonly dataStore: Functions
  /** By class name; only singletons with an exposed function. */
  readonly singletons: ReadonlyMap<string, Functions>
  private readonly tables = new Map<string, Functions>()

  constructor(readonly classes: readonly ClassDescriptor[] = []) {
    const singletons = new Map<string, Functions>()
    for (const each of classes) {
      const functions = exposedFunctions(each)
      if (each.kind === 'singleton') {
        if (functions.size > 0) singletons.set(each.name, functions)
      } else {
        const key = keyOf(each.kind, each.dataClass)
        this.tables.set(key, new Map([...(this.tables.get(key) ?? []), ...functions]))
      }
    }
    this.singletons = singletons
    this.dataStore = this.tables.get(keyOf('dataStore')) ?? NONE
  }

  /** Functions of one kind of target of a dataclass. */
  of(kind: 'dataClass' | 'entitySelection' | 'entity', dataClass: string): Functions {
    return this.tables.get(keyOf(kind, dataClass)) ?? NONE
  }

  /**
   * The function that a path part names: for an entity, of its class; otherwise of the selection class, then of the dataclass.
   */
  find(dataClass: string, name: string, isEntity: boolean): ClassFunction | undefined {
    if (this.tables.size === 0) return undefined
    if (isEntity) return this.of('entity', dataClass).get(name)
    return this.of('entitySelection', dataClass).get(name) ?? this.of('dataClass', dataClass).get(name)
  }

  /** The function that a call names. */
  called(target: CallTarget, dataClass: string | undefined, name: string): ClassFunction | undefined {
    if (target.kind === 'singleton') return this.singletons.get(target.className)?.get(name)
    if (target.kind === 'dataStore') return this.dataStore.get(name)
    return this.tables.get(keyOf(target.kind, dataClass))?.get(name)
  }

  /** Names of the functions that {@link find} searches. */
  names(dataClass: string, isEntity: boolean, mayCall: MayCall = () => true): string[] {
    const kinds = isEntity ? (['entity'] as const) : (['entitySelection', 'dataClass'] as const)
    return kinds.flatMap(kind => callable(this.of(kind, dataClass), mayCall).map(({ name }) => name))
  }

  /** Names of the singletons with a function that may be called. */
  singletonNames(mayCall: MayCall): string[] {
    return [...this.singletons].flatMap(([name, functions]) => (callable(functions, mayCall).length > 0 ? name : []))
  }

  get isEmpty(): boolean {
    return this.classes.length === 0
  }

  /** `methods` of a dataclass in the catalog. Source: design decisions, 2. */
  describe(dataClass: string, mayCall: MayCall): object[] {
    return (['dataClass', 'entitySelection', 'entity'] as const).flatMap(kind =>
      described(this.of(kind, dataClass), kind === 'entitySelection' ? 'entityCollection' : kind, mayCall),
    )
  }

  /** `methods` of the catalog: functions of the datastore. */
  describeDataStore(mayCall: MayCall): object[] {
    return described(this.dataStore, 'dataStore', mayCall)
  }

  /** `singletons` of the catalog. Source: base specification, 2.4. */
  describeSingletons(mayCall: MayCall): object[] {
    return [...this.singletons].flatMap(([name, functions]) => {
      const methods = callable(functions, mayCall).map(({ name, allowedOnHTTPGET }) => ({
        name,
        allowedOnHTTPGET,
        exposed: true,
      }))
      return methods.length > 0 ? { name, methods } : []
    })
  }
}

const callable = (functions: Functions, mayCall: MayCall): ClassFunction[] => [...functions.values()].filter(mayCall)

const described = (functions: Functions, applyTo: string, mayCall: MayCall): object[] =>
  callable(functions, mayCall).map(({ name, allowedOnHTTPGET }) => ({
    name,
    applyTo,
    scope: 'public',
    allowedOnHTTPGET,
    exposed: true,
  }))

const keyOf = (kind: ClassKind, dataClass = ''): string => `${kind} ${dataClass}`

function exposedFunctions({ kind, name: className, dataClass, members }: ClassDescriptor): Map<string, ClassFunction> {
  const target: CallTarget = kind === 'singleton' ? { kind, className } : { kind }
  const shown = kind === 'dataStore' ? 'ds' : className
  const owner = dataClass ?? shown
  return new Map(
    members.filter(isExposed).map(member => {
      const { name, allowedOnHTTPGET, deadlineSeconds, description, parameters, result } = member
      const place = placeOf(member, className)
      const called = { name, fullName: `${shown}.${name}`, owner, target, allowedOnHTTPGET, deadlineSeconds, place }
      return [
        name,
        {
          ...called,
          isAsync: member.flow === 'async',
          isStream: member.flow === 'generator',
          description,
          parameters,
          result,
        },
      ]
    }),
  )
}

type FunctionMember = Extract<Member, { kind: 'function' }>
const isExposed = (member: Member): member is FunctionMember => member.kind === 'function' && member.exposed
