/** Rows of a selection around the visible ones: loaded in small pages of an entity set, and forgotten when they are far away. */
import { signal } from '@preact/signals'

type Parameters = Readonly<Record<string, string | number | undefined>>

export type Entity = Readonly<Record<string, unknown>> & { readonly __KEY?: string; readonly __STAMP: number }

export interface Page {
  readonly __ENTITYSET?: string
  readonly __COUNT: number
  readonly __GlobalStamp: number
  readonly __ENTITIES: readonly Entity[]
}

/** Requested attributes of rows. */
export interface Asked {
  readonly parameters: Parameters
  /** Number of rows of a page, chosen so that its answer stays small. */
  readonly pageRows: number
  /** True if values depend on the filter and the order, which an entity set does not keep: `__SCORE`. */
  readonly needsQuery: boolean
}

export interface RowSource {
  /** Creates an entity set of the selection, and answers with its first rows. */
  create(parameters: Parameters, signal: AbortSignal): Promise<Page>
  /** Rows of an entity set. */
  read(set: string, parameters: Parameters, signal: AbortSignal): Promise<Page>
  /** Rows of the selection itself. */
  query(parameters: Parameters, signal: AbortSignal): Promise<Page>
  /** Returns true if an error means that the set has ended. */
  isEnded(error: unknown): boolean
}

interface Row {
  readonly entity: Entity
  readonly options: Asked
}

/** Maximum number of remembered rows. */
const KEPT = 3_000
/** Minimum time between two pages that a scrolling list requests. */
const PAUSE_MS = 50

export class Rows {
  /** Number of entities of the set, including ones deleted meanwhile. Undefined until the first answer. */
  readonly count = signal<number | undefined>(undefined)
  /** Incremented when rows have arrived or must be requested again. */
  readonly version = signal(0)
  readonly error = signal<unknown>(undefined)
  /** True if something has been written to the store since the set was created. */
  readonly isStale = signal(false)
  /** Id of the entity set. */
  readonly set = signal<string | undefined>(undefined)
  private rows = new Map<number, Row>()
  private globalStamp = 0
  private first = 0
  private last = 0
  private options: Asked | undefined
  private request: { readonly first: number; readonly last: number; readonly controller: AbortController } | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private isClosed = false

  /** @param before rows shown until the first answer */
  constructor(
    private readonly source: RowSource,
    before?: Rows,
  ) {
    this.count.value = before?.count.peek()
    for (const [index, { entity }] of before?.rows ?? []) this.rows.set(index, { entity, options: NOTHING })
  }

  /** Some of the loaded rows. */
  get sample(): readonly Entity[] {
    return [...this.rows.values()].slice(0, SAMPLE).map(({ entity }) => entity)
  }

  /** A loaded row: with the previously requested attributes until those of the current columns arrive. */
  at(index: number): Entity | undefined {
    return this.rows.get(index)?.entity
  }

  /** Requests the rows from `first` to `last` that are not loaded, and some around them. */
  want(first: number, last: number, options: Asked): void {
    this.first = first
    this.last = last
    this.options = options
    this.timer ??= setTimeout(
      () => {
        this.timer = undefined
        void this.load()
      },
      PAUSE_MS * Number(this.rows.size > 0),
    )
  }

  /** Recreates the set; rows remain until the new ones arrive. */
  refresh(): void {
    this.request?.controller.abort()
    this.request = undefined
    this.set.value = undefined
    this.error.value = undefined
    void this.load()
  }

  /** Requests the values of rows again after a change. */
  reload(): void {
    for (const [index, { entity }] of this.rows) this.rows.set(index, { entity, options: NOTHING })
    this.isStale.value = true
    void this.load()
  }

  /** Checks whether the store has changed. */
  async check(signal: AbortSignal): Promise<void> {
    const set = this.set.value
    if (set === undefined) return
    const { __GlobalStamp } = await this.source.read(set, { $top: 0 }, signal)
    if (__GlobalStamp !== this.globalStamp) this.isStale.value = true
  }

  /** Reads a page of the set, independent of the shown rows. */
  page(parameters: Parameters, signal: AbortSignal): Promise<Page> {
    return this.source.read(this.set.value!, parameters, signal)
  }

  /** Reads the keys of rows, page by page. */
  async keys(first: number, last: number, key: string, signal: AbortSignal): Promise<readonly string[]> {
    const keys: string[] = []
    for (let at = first; at <= last; at += KEY_ROWS) {
      const parameters = { $attributes: key, $skip: at, $top: Math.min(KEY_ROWS, last - at + 1) }
      const { __ENTITIES } = await this.page(parameters, signal)
      keys.push(...__ENTITIES.flatMap(({ __KEY }) => __KEY ?? []))
    }
    return keys
  }

  close(): void {
    this.isClosed = true
    clearTimeout(this.timer)
    this.request?.controller.abort()
  }

  private async load(): Promise<void> {
    const { options } = this
    const range = options && this.nextRange(options)
    if (!range || this.isClosed || this.error.value !== undefined) return
    if (this.request) {
      const { first, last, controller } = this.request
      const isWanted = first <= this.last && last >= this.first
      if (isWanted) return
      controller.abort()
    }
    const controller = new AbortController()
    const request = { ...range, controller }
    this.request = request
    try {
      const page = await this.fetch(range, options, controller.signal)
      if (this.request !== request) return
      this.take(page, range.first, options)
    } catch (error) {
      if (controller.signal.aborted || this.request !== request) return
      if (this.source.isEnded(error) && this.set.value !== undefined && !this.isRemade) {
        this.isRemade = true
        this.set.value = undefined
      } else this.error.value = error
    } finally {
      if (this.request === request) {
        this.request = undefined
        void this.load()
      }
    }
  }

  /** True after a set that has ended was recreated, until it has answered: it is recreated only once. */
  private isRemade = false

  private fetch({ first, last }: Range, options: Asked, signal: AbortSignal): Promise<Page> {
    const set = this.set.value
    const parameters = { ...options.parameters, $skip: first, $top: last - first + 1 }
    // A new set answers without values that depend on its query; rows with such values are then requested by the query.
    if (set === undefined) return this.source.create(options.needsQuery ? { $top: 0 } : parameters, signal)
    return options.needsQuery ? this.source.query(parameters, signal) : this.source.read(set, parameters, signal)
  }

  private take(page: Page, first: number, options: Asked): void {
    this.count.value = page.__COUNT
    if (page.__ENTITYSET !== undefined && this.set.value === undefined) {
      this.set.value = page.__ENTITYSET.split('/').at(-1)
      this.globalStamp = page.__GlobalStamp
      this.isStale.value = false
      this.rows.clear()
    } else if (page.__GlobalStamp !== this.globalStamp) this.isStale.value = true
    this.isRemade = false
    for (const [at, entity] of page.__ENTITIES.entries()) this.put(first + at, entity, options)
    this.forget()
    this.version.value++
  }

  private put(index: number, entity: Entity, options: Asked): void {
    const before = this.rows.get(index)
    const isSame = before?.entity.__KEY === entity.__KEY && before?.entity.__STAMP === entity.__STAMP
    this.rows.set(index, { entity: isSame ? merge(before!.entity, entity) : entity, options })
  }

  private forget(): void {
    if (this.rows.size <= KEPT) return
    const middle = (this.first + this.last) / 2
    for (const index of this.rows.keys()) if (Math.abs(index - middle) > KEPT / 4) this.rows.delete(index)
  }

  /** The next missing rows: visible ones first, then those around them. */
  private nextRange(options: Asked): Range | undefined {
    const end = (this.count.value ?? Number.POSITIVE_INFINITY) - 1
    if (this.set.value === undefined) return { first: this.first, last: this.first + options.pageRows - 1 }
    const isMissing = (index: number): boolean => this.rows.get(index)?.options !== options
    const find = (from: number, to: number): number | undefined => {
      for (let index = Math.max(0, from); index <= Math.min(to, end); index++) if (isMissing(index)) return index
      return undefined
    }
    const ahead = Math.min(options.pageRows, AHEAD)
    const first =
      find(this.first, this.last) ?? find(this.last + 1, this.last + ahead) ?? find(this.first - ahead, this.first - 1)
    if (first === undefined) return undefined
    let last = Math.min(first + options.pageRows - 1, end)
    // Rows that are already loaded are not requested twice.
    while (last > first && !isMissing(last)) last--
    return { first, last }
  }
}

interface Range {
  readonly first: number
  readonly last: number
}

/** Number of rows that are loaded beyond the visible ones. */
const AHEAD = 40
const KEY_ROWS = 1_000
const SAMPLE = 60
const NOTHING: Asked = { parameters: {}, pageRows: 1, needsQuery: false }

/** Merges two states of an entity recursively: a related entity has the attributes of both. */
function merge(before: Entity, entity: Entity): Entity {
  const both: Record<string, unknown> = { ...before, ...entity }
  for (const [name, value] of Object.entries(entity)) {
    const old = before[name]
    if (isPart(value) && isPart(old) && value.__KEY === old.__KEY) both[name] = merge(old, value)
  }
  return both as Entity
}

const isPart = (value: unknown): value is Entity => typeof value === 'object' && value !== null && '__KEY' in value
