import type { BinaryLink, Page, Reference } from './types.ts'

/** Attributes whose values differ from their JSON: kinds by the names of dataclasses and attributes. */
export interface Schema {
  /** Result form of a date with a time: a `Date`, or ISO text. */
  readonly dates: 'date' | 'text'
  readonly classes: Readonly<Record<string, Readonly<Record<string, Kind>>>>
}

/**
 * Kind of an attribute. `plain`: unchanged, for names that answers also use otherwise. A number: scale of a decimal.
 * `one City`, `many City`: relations.
 */
export type Kind = 'plain' | 'date' | 'day' | 'long64' | 'image' | 'blob' | number | `${'one' | 'many'} ${string}`

type Fields = Record<string, unknown>
type Read = (value: unknown) => unknown
interface Deferred {
  readonly __deferred?: { readonly uri: string; readonly __KEY: string }
}

/** Converts answers to results, and values to request bodies, by the schema. */
export class Converter {
  readonly #readers = new Map<string, readonly (readonly [name: string, read: Read])[]>()
  readonly #schema: Schema
  readonly #base: string

  /** @param base address of the server up to and including `/rest` */
  constructor(schema: Schema, base: string) {
    this.#schema = schema
    this.#base = base
  }

  /** True if these attributes of a dataclass may be numbers that a double cannot hold. */
  isExact(dataClass: string, paths: readonly string[] = ['*']): boolean {
    const kinds = this.#schema.classes[dataClass] ?? {}
    return paths.some(path => {
      const [name = '', ...rest] = path.split('.')
      if (name === '*') return Object.values(kinds).some(isLong)
      const target = targetOf(kinds[name])
      return target === undefined ? isLong(kinds[name]) : this.isExact(target, [rest.join('.')])
    })
  }

  /** Converts an entity of an answer to a result, in place. */
  entity(dataClass: string, entity: unknown): unknown {
    const row = entity as Fields
    for (const [name, read] of this.#readersOf(dataClass)) {
      const value = row[name]
      if (value !== undefined && value !== null) row[name] = read(value)
    }
    return row
  }

  /** Converts the answer to a save. */
  savedEntity(dataClass: string, answer: object): unknown {
    const { uri, ...row } = answer as Fields
    const { uri: isNamed } = this.#schema.classes[dataClass] ?? {}
    return this.entity(dataClass, isNamed ? { uri, ...row } : row)
  }

  page(dataClass: string, answer: unknown): Page<unknown> {
    const { __COUNT: count, __FIRST: first = 0, __ENTITIES } = answer as Collection
    // Members of an entity set that have been deleted since have no key.
    const entities = __ENTITIES.filter(({ __KEY }) => __KEY !== undefined)
    for (const entity of entities) this.entity(dataClass, entity)
    return { count, first, entities }
  }

  /** Converts a bare value, such as a sum, of the attribute at the end of a path. */
  value(dataClass: string, path: string, value: unknown): unknown {
    const [name = '', ...rest] = path.split('.')
    const kind = this.#schema.classes[dataClass]?.[name]
    if (kind === undefined || value === null) return value
    const target = targetOf(kind)
    if (target !== undefined) return this.value(target, rest.join('.'), value)
    return this.#reader(kind)(value)
  }

  /** Body of a save, without read-only members. */
  body(dataClass: string, values: object): Fields {
    const kinds = this.#schema.classes[dataClass] ?? {}
    const body: Fields = {}
    for (const [name, value] of Object.entries(values)) {
      const kind = kinds[name]
      if (kind === undefined || value === null) body[name] = value
      else if (kind === 'image' || kind === 'blob') {
        if ('ID' in (value as object)) body[name] = value
      } else if (String(kind).startsWith('one '))
        body[name] = typeof value === 'object' && '__KEY' in value ? { __KEY: value.__KEY } : value
      else if (!String(kind).startsWith('many ')) body[name] = value
    }
    return body
  }

  #readersOf(dataClass: string): readonly (readonly [string, Read])[] {
    let readers = this.#readers.get(dataClass)
    if (!readers) {
      const kinds = Object.entries(this.#schema.classes[dataClass] ?? {})
      readers = kinds.filter(([, kind]) => this.#isRead(kind)).map(([name, kind]) => [name, this.#reader(kind)])
      this.#readers.set(dataClass, readers)
    }
    return readers
  }

  #isRead(kind: Kind): boolean {
    return kind !== 'plain' && kind !== 'long64' && !(kind === 'date' && this.#schema.dates === 'text')
  }

  #reader(kind: Kind): Read {
    if (typeof kind === 'number') return value => (typeof value === 'number' ? value.toFixed(kind) : String(value))
    if (kind === 'date') return value => (this.#isRead(kind) ? new Date(value as string) : value)
    if (kind === 'day') return value => dayOf(value as string)
    if (kind === 'image' || kind === 'blob') return value => this.#link(value as Deferred)
    const target = targetOf(kind)
    if (target === undefined) return value => value
    if (kind.startsWith('one'))
      return value => {
        const { __deferred } = value as Deferred
        return __deferred ? ({ __KEY: __deferred.__KEY } satisfies Reference) : this.entity(target, value)
      }
    return value => ((value as Deferred).__deferred ? undefined : this.page(target, value))
  }

  /**
   * Addresses in answers begin after the host, with the path at which a proxy serves the server. A link never leads to another
   * host, which would receive the key.
   */
  #link({ __deferred }: Deferred): BinaryLink | null {
    return __deferred ? { url: `${this.#base}${__deferred.uri.replace(/^.*?\/rest(?=\/)/, '')}` } : null
  }
}

interface Collection {
  readonly __COUNT: number
  readonly __FIRST?: number
  readonly __ENTITIES: Fields[]
}

const isLong = (kind: Kind | undefined): boolean => kind === 'long64' || typeof kind === 'number'
const targetOf = (kind: Kind | undefined): string | undefined => /^(?:one|many) (.*)$/.exec(String(kind))?.[1]

/** ISO text of a day, whichever form the server sends: `2020-01-31` for `31!1!2020`. */
function dayOf(text: string): string {
  const [, day, month, year] = /^(\d+)!(\d+)!(\d+)$/.exec(text) ?? []
  return day && month && year ? `${year.padStart(4, '0')}-${month.padStart(2, '0')}-${day.padStart(2, '0')}` : text
}
