import { type AnswerBody, bytesOf } from './answer/answer-body.ts'
import type { DataClass } from './catalog/dataclass.ts'
import type { View } from './catalog/view.ts'
import type { EngineParts } from './engine-parts.ts'
import type { Access } from './permission/views.ts'
import type { Caller } from './caller/caller.ts'
import type { QueryOutline } from './query/tasks/outline-query.ts'
import type { ComputeArgs, DistinctArgs } from './query/tasks/value-tasks.ts'
import { copyBytes, type Promised } from './base/promised.ts'
import type { Aggregation } from './query/aggregate/aggregate.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import type { ReadRequest } from './query/contract/request.ts'

/** Reads, within the rights of a request. Documented in `PluginEngine`. */
export class Queries {
  constructor(
    private readonly parts: Pick<EngineParts, 'data' | 'views' | 'permissions' | 'classes' | 'backends' | 'tasks'>,
  ) {}

  view(access?: Access): View {
    return this.parts.views.of(access ?? this.parts.permissions.guest)
  }

  /**
   * The dataclass that an address names. Even if it cannot be read, the caller may be allowed to create entities or call
   * functions; other operations are refused later.
   * @throws {EngineErrors.UNKNOWN_DATACLASS}
   */
  addressed(name: string, access?: Access): DataClass {
    const view = this.view(access)
    const dataClass = this.parts.data.catalog.dataClassesByName.get(name)
    if (!dataClass || !view.includes(dataClass)) throw view.unknownDataClass(name)
    if (view.shows(dataClass) || view.may('create', dataClass)) return dataClass
    const functions = [...this.parts.classes.of('dataClass', name).values()]
    if (functions.some(each => this.parts.permissions.mayExecute(each, access))) return dataClass
    throw view.unknownDataClass(name)
  }

  read(request: ReadRequest, caller?: Caller): Promised<AnswerBody> {
    return this.parts.backends.run({ kind: 'read', request }, caller)
  }

  async keyOf({ filter: _, ...request }: ReadRequest, caller?: Caller): Promise<string> {
    const { source } = request
    if (source.kind === 'keys' && source.keys.length === 1) return source.keys[0]!
    const body = await copyBytes(this.read({ ...request, output: { form: 'entity' } }, caller))
    return (JSON.parse(Buffer.from(await bytesOf(body)).toString()) as { __KEY: string }).__KEY
  }

  /** Describes how a read is executed, without values, for the log. @throws {ProtocolError} the request is invalid */
  outline(request: ReadRequest): QueryOutline {
    return this.parts.tasks.outline(request)
  }

  compute(
    request: ReadRequest,
    items: readonly PathListItem[],
    aggregation: Aggregation,
    caller?: Caller,
  ): Promised<AnswerBody> {
    return this.parts.backends.run(
      { kind: 'compute', request, args: { items, aggregation } satisfies ComputeArgs },
      caller,
    )
  }

  distinct(
    request: ReadRequest,
    items: readonly PathListItem[],
    caller?: Caller,
    { counted = false } = {},
  ): Promised<AnswerBody> {
    return this.parts.backends.run(
      { kind: 'distinct', request, args: { items, counted } satisfies DistinctArgs },
      caller,
    )
  }

  runTask(name: string, request: ReadRequest, args: unknown, caller?: Caller): Promised<AnswerBody> {
    return this.parts.backends.run({ kind: name, request, args }, caller)
  }
}
