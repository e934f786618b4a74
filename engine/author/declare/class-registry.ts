import type { Member } from './members.ts'
import { type ClassDescriptor, type ClassKind, jobName, type OwnFunction, type Subject } from './describe-classes.ts'
import { type CodePlace, placeOf } from './code-place.ts'
import type { FunctionSignature } from './signature.ts'

/** Target of a class function. */
export type CallTarget =
  | { readonly kind: 'dataStore' }
  | { readonly kind: 'singleton'; readonly className: string }
  | { readonly kind: 'dataClass' }
  | { readonly kind: 'entitySelection' }
  | { readonly kind: 'entity' }

/** A function of a plugin class. */
export interface ClassFunction extends FunctionSignature {
  /** True if clients can call the function; other functions are called by their own plugin. */
  readonly exposed: boolean
  readonly name: string
  /** Class and name, for messages: `Employee.raise`. */
  readonly fullName: string
  readonly target: CallTarget
  /** Dataclass or singleton that it belongs to, `ds` for the datastore; used by permissions. */
  readonly owner: string
  readonly allowedOnHTTPGET: boolean
  readonly deadlineSeconds: number | undefined
  /** True if the function may wait for something external. */
  readonly isAsync: boolean
  /** A generator: its values are sent as a stream. */
  readonly isStream: boolean
  /** Place of the function, for log lines. */
  readonly place: CodePlace
}

/** True for the function with which guests log in if roles.json demands it: other rules do not apply to it. */
export const isLogin = ({ target, name }: ClassFunction): boolean =>
  target.kind === 'dataStore' && name === 'authentify'

/** A function that `ds.enqueue` calls. */
export interface JobFunction extends ClassFunction {
  /** Name of the job, see {@link jobName}. */
  readonly job: string
  readonly dataClass: string | undefined
  readonly attempts: number
  readonly backoffSeconds: number
  readonly concurrency: number
  readonly schedules: readonly { readonly pattern: string; readonly timeZone?: string }[]
}

/** Maximum time of an attempt of a job that waits. */
const JOB_SECONDS = 300

type MayCall = (classFunction: ClassFunction) => boolean
type Functions = ReadonlyMap<string, ClassFunction>
const NONE: Functions = new Map()

/**
 * The functions of all classes: exposed functions by their targets, functions for the plugin itself by name. Source: protocol notes, 7.1.
 */
export class ClassRegistry {
  readonly dataStore: Functions
  /** Functions of singletons, by class name; only singletons with an exposed function. */
  readonly singletons: ReadonlyMap<string, Functions>
  /** Functions that are jobs, by the names of the jobs. */
  readonly jobs: ReadonlyMap<string, JobFunction>
  private readonly tables = new Map<string, Functions>()
  /** By plugin, then by the names of class and function that the author wrote. */
  private readonly ofPlugins = new Map<string, Map<string, ClassFunction>>()

  constructor(
    readonly classes: readonly ClassDescriptor[] = [],
    ownFunctions: readonly OwnFunction[] = [],
  ) {
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
    this.jobs = new Map(classes.flatMap(jobFunctions).map(each => [each.job, each]))
    this.dataStore = this.tables.get(keyOf('dataStore')) ?? NONE
    for (const each of ownFunctions) {
      const functions = this.ofPlugins.get(each.plugin) ?? new Map<string, ClassFunction>()
      this.ofPlugins.set(each.plugin, functions)
      const exposedFunction = this.byTarget(targetOf(each.kind, each.className), each.dataClass, each.name)
      functions.set(`${each.className}.${each.name}`, exposedFunction ?? notExposed(each))
    }
  }

  /** The function `Class.name` of a plugin, or an exposed one of another plugin. */
  byName(plugin: string, name: string): ClassFunction | undefined {
    const ownFunction = this.ofPlugins.get(plugin)?.get(name)
    if (ownFunction) return ownFunction
    return [...this.ofPlugins.values()].map(functions => functions.get(name)).find(each => each?.exposed)
  }

  /** Names with which {@link byName} finds functions of the plugin. */
  namesOf(plugin: string): string[] {
    return [...(this.ofPlugins.get(plugin)?.keys() ?? [])]
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
  byTarget(target: CallTarget, dataClass: string | undefined, name: string): ClassFunction | undefined {
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
      describeFunctions(this.of(kind, dataClass), kind === 'entitySelection' ? 'entityCollection' : kind, mayCall),
    )
  }

  /** `methods` of the catalog: functions of the datastore. */
  describeDataStore(mayCall: MayCall): object[] {
    return describeFunctions(this.dataStore, 'dataStore', mayCall)
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

const describeFunctions = (functions: Functions, applyTo: string, mayCall: MayCall): object[] =>
  callable(functions, mayCall).map(({ name, allowedOnHTTPGET }) => ({
    name,
    applyTo,
    scope: 'public',
    allowedOnHTTPGET,
    exposed: true,
  }))

const keyOf = (kind: ClassKind, dataClass = ''): string => `${kind} ${dataClass}`

function exposedFunctions({ kind, name: className, dataClass, members }: ClassDescriptor): Map<string, ClassFunction> {
  return new Map(
    members.filter(isExposed).map(member => {
      const { name, allowedOnHTTPGET, deadlineSeconds, description, parameters, result } = member
      const names = namesOf({ kind, dataClass }, className, name)
      const signature = { allowedOnHTTPGET, deadlineSeconds, description, parameters, result }
      const place = placeOf(member, className)
      const flow = { isAsync: member.flow === 'async', isStream: member.flow === 'generator' }
      return [name, { ...names, ...signature, ...flow, exposed: true, place }]
    }),
  )
}

function notExposed({ plugin, className, name, isAsync, ...subject }: OwnFunction): ClassFunction {
  const place = { plugin, class: className, function: name }
  const names = namesOf(subject, className, name)
  return {
    ...names,
    exposed: false,
    allowedOnHTTPGET: false,
    deadlineSeconds: undefined,
    isAsync,
    isStream: false,
    place,
  }
}

const targetOf = (kind: ClassKind, className: string): CallTarget =>
  kind === 'singleton' ? { kind, className } : { kind }

function namesOf({ kind, dataClass }: Subject, className: string, name: string) {
  const displayName = kind === 'dataStore' ? 'ds' : className
  return {
    name,
    fullName: `${displayName}.${name}`,
    owner: dataClass ?? displayName,
    target: targetOf(kind, className),
  }
}

type FunctionMember = Extract<Member, { kind: 'function' }>
const isExposed = (member: Member): member is FunctionMember => member.kind === 'function' && member.exposed

function jobFunctions({ members, ...descriptor }: ClassDescriptor): JobFunction[] {
  const { kind, name: className, dataClass } = descriptor
  const target = targetOf(kind, className)
  return members.flatMap(member => {
    if (member.kind !== 'job') return []
    const { name, attempts = 10, backoffSeconds = 2, concurrency = 8 } = member
    const isAsync = member.flow === 'async'
    const schedules = members.filter(each => each.kind === 'schedule' && each.name === name)
    const job = jobName(descriptor, name)
    return {
      ...{ job, name, fullName: job, target, dataClass, owner: dataClass ?? className },
      ...{ exposed: false, allowedOnHTTPGET: false, isAsync, isStream: false, place: placeOf(member, className) },
      ...{ attempts, backoffSeconds, concurrency },
      deadlineSeconds: member.deadlineSeconds ?? (isAsync ? JOB_SECONDS : undefined),
      schedules: schedules as JobFunction['schedules'],
    }
  })
}
