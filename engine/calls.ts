import type { Queries } from './queries.ts'
import type { EngineParts } from './engine-parts.ts'
import type { Requester } from './entity-set/entity-sets.ts'
import { type ClassFunction, isLogin } from './author/declare/class-registry.ts'
import type { CallResult } from './author/run/function-client.ts'
import { FunctionErrors } from './author/declare/function-errors.ts'
import type { CallTask } from './author/run/tasks.ts'
import { PermissionErrors } from './permission/permission-errors.ts'
import type { Access } from './permission/views.ts'
import type { Caller } from './caller/caller.ts'
import { demandUniqueAddress } from './query/bind/demand-unique-address.ts'

/** Maximum number of entity sets in the arguments of one call. */
const MAX_SETS = 100

/** A call of a class function, as a client sends it. */
export interface FunctionCall extends Pick<CallTask, 'read' | 'keep' | 'asEvents'> {
  /** JSON as received, unchecked UTF-8. Undefined: no arguments. */
  readonly args: Uint8Array | undefined
  readonly function: ClassFunction
  /** True if a plugin calls it: arguments that look like entities or entity sets are plain values. */
  readonly isInner?: boolean
}

/** Calls of class functions. Documented in `PluginEngine`. */
export class Calls {
  constructor(
    private readonly parts: Pick<EngineParts, 'permissions' | 'entitySets' | 'code'>,
    private readonly queries: Queries,
  ) {}

  mayCall(classFunction: ClassFunction, access?: Access): boolean {
    return (
      isLogin(classFunction) || this.parts.permissions.mayExecute(classFunction, access ?? this.parts.permissions.guest)
    )
  }

  async call(
    { function: calledFunction, isInner = false, ...call }: FunctionCall,
    caller?: Caller,
  ): Promise<CallResult> {
    const { fullName, name, target, isAsync } = calledFunction
    const access = call.read?.access ?? this.parts.permissions.guest
    // Without the right to read a dataclass, neither entities nor selections of it can be addressed.
    if (target.kind === 'entity' || target.kind === 'entitySelection')
      this.queries.view(access).dataClass(call.read!.dataClass)
    if (!this.mayCall(calledFunction, access)) throw PermissionErrors.EXECUTE(fullName)
    if (target.kind === 'entity') demandUniqueAddress(call.read!, this.queries.view(access))
    const sets = isInner ? undefined : await this.setsIn(call.args, { access, caller })
    const inner = isInner ? calledFunction.place : undefined
    const task = { kind: 'call', target, function: name, fullName, isAsync, sets, access, inner, ...call } as const
    return this.parts.code!.call(calledFunction, task, caller)
  }

  /** Entity sets that arguments name; only this thread can look them up. */
  private async setsIn(args: FunctionCall['args'], requester: Requester): Promise<CallTask['sets']> {
    const bytes = args && Buffer.from(args.buffer, args.byteOffset, args.byteLength)
    if (!bytes?.includes('"__DATASET"')) return undefined
    const ids = new Set<string>()
    for (const [, id] of bytes.toString('latin1').matchAll(/"__DATASET"\s*:\s*"([0-9A-Fa-f]{32})"/g)) {
      if (ids.add(id!).size > MAX_SETS) throw FunctionErrors.TOO_MANY_SETS(MAX_SETS)
    }
    const sets = new Map<string, { dataClass: string; members: Uint8Array }>()
    for (const id of ids) {
      const { dataClass, set } = await this.parts.entitySets.openAny(id, requester)
      if (this.queries.view(requester.access).shows(dataClass))
        sets.set(id, { dataClass: dataClass.name, members: set.memberBytes })
    }
    return sets
  }
}
