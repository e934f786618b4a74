import type { Exchanged, RequestOptions } from './connection.ts'
import { BatchError, ConflictError, errorOf, TesserError } from './errors.ts'
import { addressOf, filterOf, keyText } from './filter.ts'
import type { CallArguments, ClassNamed, EntityArgument, Environment, Signature } from './functions.ts'
import { call, type Context, EntitySet, Query } from './query.ts'
import type { Checked, Path, QueryValue, Row, Shape } from './types.ts'

/** Key and stamp of a loaded entity, with the changes to it. */
export type Changed<C extends Shape> = { readonly __KEY: string; readonly __STAMP: number } & C['input']
/** Values of a new entity. */
export type Created<C extends Shape> = C['input'] & Required<Pick<C['input'], C['needs'] & keyof C['input']>>
/** Outcome for one of several entities. */
export type Saved<Entity> =
  | { readonly entity: Entity; readonly error?: undefined }
  | { readonly entity?: undefined; readonly error: TesserError }

/** A dataclass of the model. */
export class DataClass<C extends Shape, E extends Environment> {
  readonly #context: Context
  readonly #name: string

  constructor(context: Context, name: string) {
    this.#context = context
    this.#name = name
  }

  /**
   * The entities that a filter finds. Values in the template are sent separately from its text:
   *
   *   db.City.query`country.name = ${name} and population > ${1e6}`
   */
  query(template: TemplateStringsArray | string, ...values: QueryValue[]): Query<C, '*', E> {
    const filter = filterOf(template, values)
    return new Query(this.#context, { dataClass: this.#name, path: this.#name, filter })
  }

  /** All entities. */
  get all(): Query<C, '*', E> {
    return new Query(this.#context, { dataClass: this.#name, path: this.#name })
  }

  /** The entity set with this id. */
  entitySet(id: string): EntitySet<C, E> {
    return new EntitySet(this.#context, this.#name, id)
  }

  /** A handle of the entity with this key, for operations that need none of its values. */
  at(key: C['key']): EntityHandle<C, E> {
    return new EntityHandle(this.#context, this.#name, key)
  }

  /** @param paths attributes of the result @returns null if the entity does not exist or this session may not see it */
  get(key: C['key'], paths?: undefined, options?: RequestOptions): Promise<Row<C, '*'> | null>
  get<L extends string>(
    key: C['key'],
    paths: readonly Checked<L, Path<C, L>>[],
    options?: RequestOptions,
  ): Promise<Row<C, L> | null>
  async get<L extends string>(
    key: C['key'],
    paths?: readonly string[],
    options?: RequestOptions,
  ): Promise<Row<C, L> | null> {
    const { connection, converter } = this.#context
    const address = `${this.#name}(${keyText(key)})${addressOf({ $attributes: paths?.join(',') })}`
    try {
      const answer = await connection.ask(address, { exact: converter.isExact(this.#name, paths), ...options })
      return converter.entity(this.#name, answer) as Row<C, L>
    } catch (error) {
      if (error instanceof TesserError && error.code === NO_ENTITY) return null
      throw error
    }
  }

  /** @throws {ValidationError} */
  create(values: Created<C>, options?: RequestOptions): Promise<Row<C, '*'>> {
    return this.#save(values, 'update', options)
  }

  /**
   * Saves changes of an entity, unless it has been saved elsewhere since it was loaded.
   * @throws {ConflictError} @throws {ValidationError}
   */
  save(entity: Changed<C>, options?: RequestOptions): Promise<Row<C, '*'>> {
    return this.#save(entity, 'update', options)
  }

  /** Checks what a save would check, without saving. @throws {ValidationError} */
  async validate(values: Changed<C> | C['input'], options?: RequestOptions): Promise<void> {
    await this.#save(values, 'validate', options)
  }

  /** Saves new and changed entities, each independently. */
  async saveAll(
    entities: readonly (Created<C> | Changed<C>)[],
    options?: RequestOptions,
  ): Promise<Saved<Row<C, '*'>>[]> {
    const { reply, rows } = await this.#saveMany(entities, false, options)
    return rows.map((row, index) =>
      '__ERROR' in row ? { error: this.#errorOf(reply, row, index) } : { entity: this.#row(row) },
    )
  }

  /** Saves new and changed entities, all or none. @throws {BatchError} */
  async saveAtomic(entities: readonly (Created<C> | Changed<C>)[], options?: RequestOptions): Promise<Row<C, '*'>[]> {
    const { reply, rows } = await this.#saveMany(entities, true, options)
    const failures = rows.flatMap((row, index) => ('__ERROR' in row ? this.#errorOf(reply, row, index) : []))
    if (failures.length > 0) throw new BatchError(failures)
    return rows.map(row => this.#row(row))
  }

  /** Deletes one or more entities. @param options `atomic`: all or none */
  async delete(
    keys: C['key'] | readonly C['key'][],
    { atomic, ...options }: { readonly atomic?: boolean } & RequestOptions = {},
  ): Promise<void> {
    const list = (Array.isArray(keys) ? keys : [keys]) as readonly C['key'][]
    if (list.length === 0) return
    const address = `${this.#name}(${list.map(keyText).join(',')})${addressOf({ $method: 'delete', $atomic: atomic })}`
    const repeatable = atomic === true || list.length === 1
    await this.#context.connection.ask(address, { method: 'POST', repeatable, ...options })
  }

  /** Calls a function of the dataclass. */
  call<K extends keyof C['functions']['dataClass'] & string, S extends DataClassFunction<C, K, E>>(
    name: K,
    ...[args, options]: CallArguments<S['arguments']>
  ): Promise<S['result']> {
    return call(this.#context, `${this.#name}/${name}`, args, options)
  }

  /** Returns true if an error is a conflict of an entity of this dataclass; types its `current`. */
  isConflict(error: unknown): error is ConflictError<Row<C, '*'>> {
    return error instanceof ConflictError && error.dataClass === this.#name
  }

  async #save(values: object, method: string, options?: RequestOptions): Promise<Row<C, '*'>> {
    const { connection, converter } = this.#context
    const reply = await connection.exchange(`${this.#name}?$method=${method}`, {
      body: converter.body(this.#name, values),
      exact: converter.isExact(this.#name),
      repeatable: 'refused',
      ...options,
    })
    if (!reply.isError) return this.#row(reply.json)
    // A validation answers with a list.
    const { __ENTITIES: [row = reply.json] = [] } = (reply.json ?? {}) as { __ENTITIES?: object[] }
    throw this.#errorOf(reply, row as object)
  }

  async #saveMany(entities: readonly object[], atomic: boolean, options?: RequestOptions) {
    const { connection, converter } = this.#context
    const body = entities.map(each => converter.body(this.#name, each))
    const address = `${this.#name}${addressOf({ $method: 'update', $atomic: atomic })}`
    // Without `atomic`, some entities of the batch may already have been saved.
    const reply = await connection.exchange(address, {
      body,
      exact: converter.isExact(this.#name),
      repeatable: atomic && 'refused',
      ...options,
    })
    const rows = (reply.json as { __ENTITIES?: object[] } | undefined)?.__ENTITIES
    if (!rows) throw errorOf(reply)
    return { reply, rows }
  }

  #errorOf(reply: Exchanged, answer: object, index?: number): TesserError {
    return errorOf({ ...reply, json: answer }, { index, dataClass: this.#name, current: () => this.#row(answer) })
  }

  #row(answer: unknown): Row<C, '*'> {
    return this.#context.converter.savedEntity(this.#name, answer as object) as Row<C, '*'>
  }
}

/** "No entity with this key." */
const NO_ENTITY = 1543

type DataClassFunction<C extends Shape, K extends keyof C['functions']['dataClass'], E extends Environment> = Signature<
  C['functions']['dataClass'][K],
  ClassNamed<E, C['name']>,
  K,
  E,
  C['name'],
  '*'
>
type EntityFunction<C extends Shape, K extends keyof C['functions']['entity'], E extends Environment> = Signature<
  C['functions']['entity'][K],
  ClassNamed<E, `${C['name']}Entity`>,
  K,
  E,
  C['name'],
  '*'
>

/** Outcome of a lock or an unlock. */
export interface LockOutcome {
  /** True if the entity is now in the requested state. */
  readonly ok: boolean
  /** True if the session had not locked the entity that it unlocked. */
  readonly wasNotLocked?: boolean
  /** Holder of the lock. */
  readonly lockInfo?: object
}

/** A handle of an entity, by its key. */
export class EntityHandle<C extends Shape, E extends Environment> implements EntityArgument<C['name']> {
  readonly #context: Context
  readonly #dataClass: string
  readonly key: C['key']

  constructor(context: Context, dataClass: string, key: C['key']) {
    this.#context = context
    this.#dataClass = dataClass
    this.key = key
  }

  /** Calls a function of the entity. */
  call<K extends keyof C['functions']['entity'] & string, S extends EntityFunction<C, K, E>>(
    name: K,
    ...[args, options]: CallArguments<S['arguments']>
  ): Promise<S['result']> {
    return call(this.#context, `${this.#path}/${name}`, args, options)
  }

  /** Keeps other sessions from changing and deleting the entity until it is unlocked or the session ends. */
  lock(options?: RequestOptions): Promise<LockOutcome> {
    return this.#lock(true, options)
  }
  unlock(options?: RequestOptions): Promise<LockOutcome> {
    return this.#lock(false, options)
  }

  /** The form that the entity has as an argument of a function. */
  toJSON(): { readonly __ENTITY: true; readonly __DATACLASS: C['name']; readonly __KEY: C['key'] } {
    return { __ENTITY: true, __DATACLASS: this.#dataClass, __KEY: this.key }
  }

  get #path(): string {
    return `${this.#dataClass}(${keyText(this.key)})`
  }

  async #lock(lock: boolean, options?: RequestOptions): Promise<LockOutcome> {
    const answer = await this.#context.connection.ask(`${this.#path}?$lock=${lock}`, { method: 'POST', ...options })
    const { result, __STATUS } = answer as { result: boolean; __STATUS: { wasNotLocked?: boolean; lockInfo?: object } }
    const { wasNotLocked, lockInfo } = __STATUS
    return { ok: result, ...(wasNotLocked !== undefined && { wasNotLocked }), ...(lockInfo && { lockInfo }) }
  }
}
