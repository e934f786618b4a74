/**
 * The engine's public API: the only way to data. It knows dataclasses, predicates and row ids, not requests.
 */
import { mkdirSync } from 'node:fs'
import type { Catalog, DataClass, WireOptions } from './catalog/dataclass.ts'
import { loadModel } from './catalog/load-model.ts'
import type { TableNumbers } from './catalog/table-numbers.ts'
import type { BinaryValue } from './catalog/value.ts'
import { EngineErrors } from './engine-errors.ts'
import { ProtocolError } from './errors.ts'
import type { Output, ReadRequest } from './query/request.ts'
import type { PathListItem } from './query/parse/parse-path-list.ts'
import { type Aggregation, bindAggregates } from './query/aggregate/aggregate.ts'
import { bindFirstScalar } from './query/aggregate/measure.ts'
import { type ValuesOptions, writeAggregates, writeDistinct } from './query/aggregate/write-values.ts'
import type { QueryContext } from './query/execute/evaluate.ts'
import { openSource } from './query/execute/open-source.ts'
import { QueryBudget } from './query/execute/query-budget.ts'
import { type TraceStep, trace } from './query/execute/trace.ts'
import { describePlan, type PlanDescription } from './query/plan/describe-operator.ts'
import { lower } from './query/plan/lower.ts'
import type { Operator } from './query/plan/physical-plan.ts'
import { prepareQuery } from './query/plan/query-cache.ts'
import { select, selectRowIds, selectRowSet } from './query/select.ts'
import { bindProjection } from './query/serialise/bind-projection.ts'
import { writeSaved } from './query/serialise/write-saved.ts'
import { writeArray, writeCollection, writeEntity } from './query/serialise/write-selection.ts'
import { type Environment, openEnvironment } from './storage/environment.ts'
import type { Progress } from './storage/migration-run.ts'
import { loadLayouts } from './storage/layouts.ts'
import type { RowLayout } from './storage/row-layout.ts'
import type { Snapshot } from './storage/snapshot.ts'
import { openStore, type Store } from './storage/store.ts'
import { suggestion } from './suggestion.ts'
import type { SaveRequest, SaveResult } from './write/requests.ts'
import { WriterClient } from './write/writer-client.ts'

export { describeAll, describeCatalog, describeDataClass } from './catalog/describe.ts'
export type { Aggregation } from './query/aggregate/aggregate.ts'
export { parseParams } from './query/parse/parse-params.ts'
export { parsePathList } from './query/parse/parse-path-list.ts'
export { parseJsonBody } from './json-body.ts'

export interface EngineOptions {
  /** Folder of the store; made when it does not exist. */
  path: string
  /** Content of the model file. */
  model: unknown
  wire: WireOptions
  /** Let a changed model remove what it no longer names. */
  allowLoss: boolean
  mapSizeBytes: number
  /** Memory for column segments. */
  cacheBytes: number
  limits: QueryLimits
  /** Bodies that wait for the writer; beyond it a write is refused with 503. */
  writeQueueBytes: number
  /** What goes wrong inside the writer thread, for the log. */
  onInternalError?: (text: string) => void
  /** How far a change of the model has come. */
  onProgress?: Progress
}

export interface QueryLimits {
  timeoutMs: number
  maxRowsExamined: number
  maxExpandDepth: number
  maxAnswerBytes: number
}

/**
 * Opens a store, after the writer thread has brought it to the given model.
 * @throws {ModelError} the model is wrong; {@link MigrationError} it does not fit the data; {@link StoreError}
 */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  mkdirSync(options.path, { recursive: true })
  const writer = await WriterClient.start({ ...options, maxWaitingBytes: options.writeQueueBytes })
  try {
    return new Engine(options, writer)
  } catch (error) {
    await writer.close()
    throw error
  }
}

export class Engine {
  readonly catalog: Catalog
  private readonly environment: Environment
  private readonly layouts: ReadonlyMap<DataClass, RowLayout>
  private readonly store: Store

  constructor(
    private readonly options: EngineOptions,
    private readonly writer: WriterClient,
  ) {
    this.environment = openEnvironment(options)
    this.catalog = loadModel(options.model, this.environment.meta.get('numbers') as TableNumbers)
    this.layouts = loadLayouts(this.environment, this.catalog, options.wire)
    this.store = openStore({
      environment: this.environment,
      catalog: this.catalog,
      layouts: this.layouts,
      cacheBytes: options.cacheBytes,
    })
  }

  /** False while the writer thread is being replaced. */
  get isWritable(): boolean {
    return this.writer.isRunning
  }

  /** A public dataclass. @throws {EngineErrors.UNKNOWN_DATACLASS} */
  dataClass(name: string): DataClass {
    const dataClass = this.catalog.dataClassesByName.get(name)
    if (!dataClass || dataClass.scope !== 'public') throw this.unknownDataClass(name)
    return dataClass
  }

  unknownDataClass(name: string): ProtocolError {
    const known = this.catalog.dataClasses.filter(({ scope }) => scope === 'public').map(each => each.name)
    return EngineErrors.UNKNOWN_DATACLASS(name.slice(0, 200), suggestion(name, known))
  }

  /** The answer to a read: UTF-8 JSON, valid until the next read in this thread. @throws {ProtocolError} */
  read(request: ReadRequest): Uint8Array {
    return this.inSnapshot(snapshot => {
      const page = select(request, this.catalog, snapshot, this.budget())
      const projection = bindProjection(page.dataClass, request.output, this.layouts, this.options.limits)
      const { output } = request
      switch (output.form) {
        case 'entity':
          return writeEntity(page, projection, snapshot)
        case 'array':
          return writeArray(page, projection, snapshot)
        case 'collection':
          return writeCollection(page, projection, snapshot, output)
      }
    })
  }

  /**
   * Aggregates of attributes over all that `request` selects, whatever its paging. Without `items` only a count.
   * @returns UTF-8 JSON, valid until the next aggregate in this thread
   * @throws {ProtocolError}
   */
  compute(request: ReadRequest, items: readonly PathListItem[], aggregation: Aggregation): Uint8Array {
    return this.inSnapshot(snapshot => {
      const measures = bindAggregates(items, aggregation, this.dataClass(request.dataClass))
      const context = { snapshot, budget: this.budget() }
      return writeAggregates(
        measures,
        aggregation,
        selectRowSet(request, this.catalog, snapshot, context.budget),
        context,
        this.answerOptions(request),
      )
    })
  }

  /**
   * The different values of the first scalar attribute in `items`, ascending, as far as `request` selects and pages them.
   * @returns UTF-8 JSON, valid until the next aggregate in this thread
   * @throws {ProtocolError}
   */
  distinct(request: ReadRequest, items: readonly PathListItem[]): Uint8Array {
    return this.inSnapshot(snapshot => {
      const measure = bindFirstScalar(items, this.dataClass(request.dataClass))
      const context = { snapshot, budget: this.budget() }
      const page = { skip: request.skip, count: request.top ?? Number.POSITIVE_INFINITY }
      return writeDistinct(measure, page, selectRowSet(request, this.catalog, snapshot, context.budget), context, this.answerOptions(request))
    })
  }

  /** How the filter of `request` is going to be carried out. @throws {ProtocolError} */
  explain(request: ReadRequest): PlanDescription {
    return this.inSnapshot(snapshot => {
      const dataClass = this.dataClass(request.dataClass)
      return describePlan(this.operator(request, dataClass, snapshot), dataClass)
    })
  }

  /** Carries the filter of `request` out and tells what each step took and found. @throws {ProtocolError} */
  trace(request: ReadRequest): TraceStep {
    return this.inSnapshot(snapshot => {
      const context = { snapshot, budget: this.budget() }
      const { dataClass, rows } = openSource(request, this.catalog, context)
      return trace(this.operator(request, dataClass, snapshot), dataClass, rows.set, context)
    })
  }

  /**
   * The bytes of an image or a blob of the one entity that `request` selects: null when it has none, undefined when
   * `item` is not such an attribute.
   */
  readBinary(request: ReadRequest, item: PathListItem): BinaryValue | null | undefined {
    return this.inSnapshot(snapshot => {
      const dataClass = this.dataClass(request.dataClass)
      const attribute = item.path.length === 1 ? dataClass.attributesByName.get(item.path[0]!) : undefined
      if (attribute?.kind !== 'storage' || attribute.scope !== 'public') return undefined
      if (attribute.type !== 'image' && attribute.type !== 'blob') return undefined
      const [rowId] = select(request, this.catalog, snapshot, this.budget()).rowIds
      return snapshot.table(dataClass).binary(rowId!, attribute) ?? null
    })
  }

  /** Saves and resolves when it is durable. @throws {ProtocolError} when no entity could be looked at: bad JSON, overload */
  write(request: SaveRequest): Promise<SaveResult> {
    return this.writer.save(request)
  }

  /** Saves, and writes the answer: the entities as they are on the server now, with what went wrong. */
  async save(request: SaveRequest, output: Output): Promise<{ status: number; body: Uint8Array }> {
    const dataClass = this.dataClass(request.dataClass)
    // A wrong $expand must not be found after the save.
    const projection = bindProjection(dataClass, output, this.layouts, this.options.limits)
    const result = await this.write(request)
    const failure = result.entities.find(entity => entity.failure)?.failure
    const answer = (snapshot: Snapshot): Uint8Array => {
      try {
        return writeSaved(result, projection, snapshot)
      } catch (error) {
        if (!output.expand && !output.attributes) throw error
        // It has been saved: what is too large or gone meanwhile must not look like a failure.
        return writeSaved(
          result,
          bindProjection(dataClass, { form: 'entity' }, this.layouts, this.options.limits),
          snapshot,
        )
      }
    }
    return { status: failure?.error.httpStatus ?? 200, body: this.inSnapshot(snapshot => answer(snapshot)) }
  }

  /**
   * Deletes what `request` selects, whatever its paging, and resolves when it is durable.
   * @returns the number of deleted entities
   * @throws {ProtocolError} why the first entity that is left could not be deleted
   */
  async delete(request: ReadRequest, atomic: boolean): Promise<number> {
    const rowIds = this.inSnapshot(snapshot => selectRowIds(request, this.catalog, snapshot, this.budget()))
    if (rowIds.length === 0) return 0
    const { deleted, error } = await this.writer.delete({
      kind: 'delete',
      dataClass: request.dataClass,
      rowIds,
      atomic,
    })
    if (!error) return deleted
    const cause = new ProtocolError(error)
    throw rowIds.length === 1 ? cause : cause.followedBy(EngineErrors.NOT_ALL_DELETED(deleted, rowIds.length))
  }

  /** Finishes queued writes, then closes the store. */
  async close(): Promise<void> {
    await this.writer.close()
    this.store.close()
    await this.environment.close()
  }

  private inSnapshot<T>(work: (snapshot: Snapshot) => T): T {
    const snapshot = this.store.snapshot()
    try {
      return work(snapshot)
    } finally {
      snapshot.release()
    }
  }

  private operator(request: ReadRequest, dataClass: DataClass, snapshot: Snapshot): Operator {
    const { predicate } = prepareQuery(dataClass, request)
    return predicate ? lower(predicate, dataClass, snapshot) : { kind: 'All' }
  }

  private answerOptions({ output }: ReadRequest): ValuesOptions {
    return { maxAnswerBytes: this.options.limits.maxAnswerBytes, pretty: output.pretty ?? false }
  }

  private budget(): QueryBudget {
    return new QueryBudget(this.options.limits)
  }
}
