import { type Connection, readJson, readLines, type RequestOptions } from './connection.ts'
import type { Converter } from './convert.ts'
import { errorOf } from './errors.ts'
import { addressOf, type Filter, filterOf } from './filter.ts'
import type { CallArguments, ClassNamed, Environment, SelectionArgument, Signature } from './functions.ts'
import type { Checked, Order, Page, Path, QueryValue, Relation, Row, Shape, Total, ValueAt } from './types.ts'

/** State that all parts of a client share. */
export interface Context {
  readonly connection: Connection
  readonly converter: Converter
}

/** The entities that a request is about. */
interface Selection {
  readonly dataClass: string
  /** Address after `/rest/`: the dataclass, or an entity set of it. */
  readonly path: string
  readonly filter?: Filter | undefined
  /** Undefined for all attributes that are not 1→N relations. */
  readonly attributes?: readonly string[]
  readonly orderBy?: string
  readonly top?: number
  readonly skip?: number
  /** Parameters of plugins. */
  readonly more?: object
}

type Aggregate = 'sum' | 'average' | 'min' | 'max'

/** Entities that a filter finds. Immutable: each method returns another query, or sends a request. */
export class Query<C extends Shape, P extends string, E extends Environment> {
  protected readonly context: Context
  protected readonly selection: Selection

  constructor(context: Context, selection: Selection) {
    this.context = context
    this.selection = selection
  }

  /** Attributes of the results: `'name', 'country.name', 'country.borders.*'`. */
  select<L extends string>(...paths: Checked<L, Path<C, L>>[]): Query<C, L, E> {
    return new Query(this.context, { ...this.selection, attributes: paths })
  }

  /** Adds related entities with all of their attributes: `'country', 'country.region'`. */
  expand<L extends string>(...relations: Checked<L, Relation<C, L>>[]): Query<C, P | `${L}.*`, E> {
    const { attributes = ['*'] } = this.selection
    const expandedPaths = relations.map(each => `${each}.*`)
    return new Query(this.context, { ...this.selection, attributes: [...attributes, ...expandedPaths] })
  }

  /** Sets the order: `'name'`, `'country.name desc'`. */
  orderBy<T extends string>(...terms: Checked<T, Order<C, T>>[]): Query<C, P, E> {
    return new Query(this.context, { ...this.selection, orderBy: terms.join(',') })
  }

  /** Maximum number of entities of a page, 100 by default; -1 for all. */
  top(count: number): Query<C, P, E> {
    return new Query(this.context, { ...this.selection, top: count })
  }

  /** Number of entities before the page. */
  skip(count: number): Query<C, P, E> {
    return new Query(this.context, { ...this.selection, skip: count })
  }

  /** Adds parameters that plugins of the server have registered: `.with({ $near: '48.85,2.35' })`. */
  with(parameters: NonNullable<E['parameters']>): Query<C, P, E> {
    return new Query(this.context, { ...this.selection, more: { ...this.selection.more, ...parameters } })
  }

  /** Cache key: equal for equal queries. */
  get key(): readonly unknown[] {
    return [this.selection.path, this.#parameters()]
  }

  async page(options?: RequestOptions): Promise<Page<Row<C, P>>> {
    const answer = await this.ask('', this.#parameters(), this.#reading(this.selection.attributes, options))
    return this.context.converter.page(this.selection.dataClass, answer) as Page<Row<C, P>>
  }

  /** The entities of a page. */
  async list(options?: RequestOptions): Promise<Row<C, P>[]> {
    const { entities } = await this.page(options)
    return entities
  }

  async first(options?: RequestOptions): Promise<Row<C, P> | null> {
    const [entity = null] = await this.top(1).list(options)
    return entity
  }

  async count(options?: RequestOptions): Promise<number> {
    const answer = await this.ask('', { ...this.#selecting(), $top: 0 }, options)
    return (answer as { __COUNT: number }).__COUNT
  }

  sum<L extends string>(
    path: Checked<L, Path<C, L>>,
    options?: RequestOptions,
  ): Promise<Total<NonNullable<ValueAt<C, L>>>> {
    return this.#compute('sum', path, options)
  }
  average<L extends string>(
    path: Checked<L, Path<C, L>>,
    options?: RequestOptions,
  ): Promise<Exclude<Total<NonNullable<ValueAt<C, L>>>, bigint> | null> {
    return this.#compute('average', path, options)
  }
  min<L extends string>(path: Checked<L, Path<C, L>>, options?: RequestOptions): Promise<ValueAt<C, L> | null> {
    return this.#compute('min', path, options)
  }
  max<L extends string>(path: Checked<L, Path<C, L>>, options?: RequestOptions): Promise<ValueAt<C, L> | null> {
    return this.#compute('max', path, options)
  }

  /** Distinct values, ascending, without null. */
  async distinct<L extends string>(
    path: Checked<L, Path<C, L>>,
    options?: RequestOptions,
  ): Promise<NonNullable<ValueAt<C, L>>[]> {
    const values = await this.ask(
      `/${path}`,
      { ...this.#parameters(), $attributes: undefined, $distinct: true },
      this.#reading([path], options),
    )
    return (values as unknown[]).map(value =>
      this.context.converter.value(this.selection.dataClass, path, value),
    ) as never
  }

  /**
   * All entities, page by page, from an entity set that is created for it: entities that are saved meanwhile are neither repeated
   * nor left out.
   */
  async *pages(size = 500, options?: RequestOptions): AsyncGenerator<Page<Row<C, P>>, void, undefined> {
    const { dataClass, path, filter, orderBy, attributes, skip = 0, top = -1, more } = this.selection
    const isKept = path !== dataClass && !filter && orderBy === undefined && !more
    const set = isKept ? undefined : await this.entitySet({ timeout: 600, ...options })
    const projection = { ...(attributes && { attributes }), ...(more && { more }) }
    const all = set ? new Query<C, P, E>(this.context, { ...set.selection, ...projection }) : this
    try {
      let end = top < 0 ? Number.POSITIVE_INFINITY : skip + top
      for (let at = skip; at < end; at += size) {
        const page = await all
          .skip(at)
          .top(Math.min(size, end - at))
          .page(options)
        end = Math.min(end, page.count)
        if (at < end) yield page
      }
    } finally {
      await set?.release()
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Row<C, P>, void, undefined> {
    for await (const { entities } of this.pages()) yield* entities
  }

  /** Keeps the entities on the server. @param options `timeout`: seconds without use after which the set ends, two hours by default */
  async entitySet({ timeout, saved, ...options }: EntitySetOptions = {}): Promise<EntitySet<C, E>> {
    const { dataClass } = this.selection
    const { $orderby } = this.#parameters()
    const setOptions = { $savedfilter: saved, $savedorderby: saved, $timeout: timeout, $top: 0 }
    const answer = await this.ask('', { ...this.#selecting(), $orderby, ...setOptions, $method: 'entityset' }, options)
    return EntitySet.of(this.context, dataClass, answer)
  }

  /** Deletes the entities. A query without a filter is refused. @param options `atomic`: all or none */
  async delete({ atomic, ...options }: { readonly atomic?: boolean } & RequestOptions = {}): Promise<void> {
    const { path, dataClass } = this.selection
    const { $filter = path === dataClass ? '' : undefined, ...selecting } = this.#selecting()
    const address = addressOf({ $method: 'delete', $filter, ...selecting, $atomic: atomic })
    await this.context.connection.ask(`${path}${address}`, { method: 'POST', ...options })
  }

  /** Calls a function of the selection. */
  call<K extends keyof C['functions']['selection'] & string, S extends SelectionFunction<C, K, P, E>>(
    name: K,
    ...[args, options]: CallArguments<S['arguments']>
  ): Promise<S['result']> {
    const { path } = this.selection
    const address = `${path}/${name}${addressOf(this.#parameters())}`
    return call(this.context, address, args, options) as Promise<S['result']>
  }

  async #compute(keyword: Aggregate, path: string, options?: RequestOptions): Promise<never> {
    const aggregateParameters = { ...this.#selecting(), $compute: keyword }
    const value = await this.ask(`/${path}`, aggregateParameters, this.#reading([path], options))
    const isOwn = keyword !== 'average' || typeof value !== 'number'
    return (isOwn ? this.context.converter.value(this.selection.dataClass, path, value) : value) as never
  }

  #parameters(): ReadParameters {
    const { attributes, orderBy, top, skip } = this.selection
    const parameters = this.#selecting()
    if (attributes) parameters.$attributes = attributes.join(',')
    if (orderBy !== undefined) parameters.$orderby = orderBy
    if (top !== undefined) parameters.$top = top
    if (skip !== undefined) parameters.$skip = skip
    return parameters
  }

  /** Parameters that select entities, including all parameters of plugins, which may select entities too. */
  #selecting(): ReadParameters {
    const { filter, more } = this.selection
    const parameters: ReadParameters = { ...more }
    if (filter) parameters.$filter = filter.text
    if (filter && filter.values.length > 0) parameters.$params = filter.values
    return parameters
  }

  /** Options of a request whose answer has the values of these attributes. */
  #reading(paths: readonly string[] | undefined, options?: RequestOptions): Reading {
    return { exact: this.context.converter.isExact(this.selection.dataClass, paths), ...options }
  }

  protected ask(behind: string, parameters: object, options?: Reading): Promise<unknown> {
    return this.context.connection.ask(`${this.selection.path}${behind}/$query`, { body: parameters, ...options })
  }
}

interface Reading extends RequestOptions {
  readonly exact?: boolean
}

type SelectionFunction<
  C extends Shape,
  K extends keyof C['functions']['selection'],
  P extends string,
  E extends Environment,
> = Signature<C['functions']['selection'][K], ClassNamed<E, `${C['name']}Selection`>, K, E, C['name'], P>

type ReadParameters = {
  $filter?: string
  $params?: readonly unknown[]
  $attributes?: string
  $orderby?: string
  $top?: number
  $skip?: number
}

export interface EntitySetOptions extends RequestOptions {
  /** Seconds without use after which the set ends; two hours by default. */
  readonly timeout?: number
  /** Recreates the set from its filter and order when it is used after its end. */
  readonly saved?: boolean
}

/** Entities that the server keeps, in their order. */
export class EntitySet<C extends Shape, E extends Environment>
  extends Query<C, '*', E>
  implements SelectionArgument<C['name']>
{
  readonly id: string

  constructor(context: Context, dataClass: string, id: string) {
    super(context, { dataClass, path: `${dataClass}/$entityset/${id}` })
    this.id = id
  }

  static of<C extends Shape, E extends Environment>(
    context: Context,
    dataClass: string,
    answer: unknown,
  ): EntitySet<C, E> {
    const { __ENTITYSET: uri } = answer as { __ENTITYSET: string }
    return new EntitySet(context, dataClass, uri.slice(uri.lastIndexOf('/') + 1))
  }

  /** Entities of the set that a filter finds. */
  query(template: TemplateStringsArray | string, ...values: QueryValue[]): Query<C, '*', E> {
    return new Query(this.context, { ...this.selection, filter: filterOf(template, values) })
  }

  and(other: EntitySet<C, E>, options?: EntitySetOptions): Promise<EntitySet<C, E>> {
    return this.#combine({ $logicOperator: 'AND', $otherCollection: other.id }, options)
  }
  or(other: EntitySet<C, E>, options?: EntitySetOptions): Promise<EntitySet<C, E>> {
    return this.#combine({ $logicOperator: 'OR', $otherCollection: other.id }, options)
  }
  except(other: EntitySet<C, E>, options?: EntitySetOptions): Promise<EntitySet<C, E>> {
    return this.#combine({ $logicOperator: 'EXCEPT', $otherCollection: other.id }, options)
  }
  /** Returns true if an entity is in both sets. */
  async intersects(other: EntitySet<C, E>, options?: RequestOptions): Promise<boolean> {
    return (await this.ask('', { $logicOperator: 'INTERSECT', $otherCollection: other.id }, options)) as boolean
  }
  /** Creates a set without the entities that have been deleted. */
  clean(options?: EntitySetOptions): Promise<EntitySet<C, E>> {
    return this.#combine({ $clean: true }, options)
  }
  async release(options?: RequestOptions): Promise<void> {
    await this.context.connection.ask('$entityset/$release', { body: [this.id], ...options })
  }

  /** The form that the set has as an argument of a function. */
  toJSON(): { readonly __ENTITIES: true; readonly __DATASET: string; readonly __DATACLASS: C['name'] } {
    return { __ENTITIES: true, __DATASET: this.id, __DATACLASS: this.selection.dataClass }
  }

  async #combine(parameters: object, { timeout, ...options }: EntitySetOptions = {}): Promise<EntitySet<C, E>> {
    const answer = await this.ask('', { ...parameters, $method: 'entityset', $timeout: timeout, $top: 0 }, options)
    return EntitySet.of(this.context, this.selection.dataClass, answer)
  }
}

/** Calls a function. @returns a value, an entity, a page, the values of a stream, or the bytes of an answer that is not JSON */
export async function call(
  { connection, converter }: Context,
  path: string,
  args: readonly unknown[] = [],
  options?: RequestOptions,
): Promise<unknown> {
  // A function that is stopped at its deadline may already have had an effect.
  const response = await connection.respond(`${connection.url}/${path}`, { body: args, repeatable: false, ...options })
  const type = response.headers.get('Content-Type') ?? ''
  if (response.ok && type.startsWith('application/x-ndjson')) return valuesOf(converter, readLines(response))
  const isJson = /\bjson\b/.test(type)
  if (response.ok && !isJson) return response.blob()
  const result = await readJson(response, true)
  if (result.isError) throw errorOf(result)
  return convertAnswer(converter, result.json)
}

async function* valuesOf(converter: Converter, lines: AsyncIterable<unknown>): AsyncGenerator<unknown, void, unknown> {
  for await (const line of lines) yield convertAnswer(converter, line)
}

function convertAnswer(converter: Converter, answer: unknown): unknown {
  const { __entityModel: dataClass, __ENTITIES: entities, result } = (answer ?? {}) as Result
  if (dataClass === undefined) return result === undefined ? answer : result
  return entities ? converter.page(dataClass, answer) : converter.entity(dataClass, answer)
}

interface Result {
  readonly __entityModel?: string
  readonly __ENTITIES?: unknown
  readonly result?: unknown
}
