import type { AnswerBody } from '../answer/answer-body.ts'
import { copyBytes, type Promised } from '../base/promised.ts'
import type { Caller } from '../caller/caller.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { Permissions } from '../permission/permissions.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import { rowIdsOf } from '../query/tasks/row-ids-task.ts'
import type { Task } from '../query/tasks/task.ts'
import type { Backend, DatabaseState } from './backend.ts'

/** The back end of each dataclass. */
export class Backends {
  /** All back ends, this store first. */
  readonly all: readonly Backend[]

  constructor(
    private readonly store: Backend,
    /** Back ends of the dataclasses that are not in this store, by name. */
    private readonly otherBackends: ReadonlyMap<string, Backend>,
    private readonly permissions: Permissions,
  ) {
    this.all = [store, ...new Set(otherBackends.values())]
  }

  of({ name }: DataClass): Backend {
    return this.byName(name)
  }

  /** @param name of a dataclass; names without another back end, even unknown ones, go to this store */
  byName(name: string): Backend {
    return this.otherBackends.get(name) ?? this.store
  }

  /** @returns undefined if this store has the entities */
  elsewhere(name: string): Backend | undefined {
    return this.otherBackends.get(name)
  }

  /** States of all databases, as {@link Backend.databases}. */
  async databases(): Promise<readonly DatabaseState[]> {
    return (await Promise.all(this.all.map(backend => backend.databases?.() ?? []))).flat()
  }

  /** The request with the rights of a guest, if it names none. */
  withRights(request: ReadRequest): ReadRequest {
    const access = request.access ?? this.permissions.guest
    // Without roles there are no rights, and nothing to copy.
    return access === request.access ? request : { ...request, access }
  }

  /** Runs a task where its entities are. @returns as {@link Backend.run} @throws {ProtocolError} */
  run(task: Task, caller?: Caller): Promised<AnswerBody> {
    const { request } = task
    const requestWithRights = this.withRights(request)
    return this.byName(request.dataClass).run(
      requestWithRights === request ? task : { ...task, request: requestWithRights },
      caller,
    )
  }

  /** Runs a task whose result is for this server. @returns as {@link run} */
  inner(task: Task, caller?: Caller): Promised<Uint8Array> {
    return this.run(task, caller) as Promised<Uint8Array>
  }

  /** Row id of the one entity that `request` selects. @throws {ProtocolError} 404: there is none */
  rowId(request: ReadRequest, caller?: Caller): Promised<number> {
    const first = (bytes: Uint8Array): number => rowIdsOf(bytes)[0]!
    const answer = this.inner({ kind: 'rowIds', request, args: { of: 'page' } }, caller)
    return answer instanceof Promise ? answer.then(first) : first(answer)
  }

  /** Row ids of all entities that `request` selects, whatever its paging. @throws {ProtocolError} */
  async rowIds(request: ReadRequest, caller?: Caller): Promise<Uint32Array> {
    return rowIdsOf(await copyBytes(this.inner({ kind: 'rowIds', request, args: { of: 'selection' } }, caller)))
  }
}
