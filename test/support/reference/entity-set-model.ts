/** Entity sets and their entities, in the simplest form. */

export interface Item {
  readonly ID: number
  a: number
  b: number
}

export interface Filter {
  readonly attribute: 'a' | 'b'
  readonly comparator: '=' | '<' | '>'
  readonly value: number
}

export interface Query {
  /** Undefined: all. */
  readonly keys?: readonly number[] | undefined
  readonly filter?: Filter | undefined
  /** By `b`, descending or not. */
  readonly order?: 'asc' | 'desc' | undefined
}

export interface ModelSet {
  members: readonly number[]
  timeout: number
  expires: number
  readonly saved: Query | undefined
}

/** A key of an entity that no longer exists. */
export class UnknownKey extends Error {}

export class EntitySetModel {
  readonly items = new Map<number, Item>()
  readonly sets = new Map<string, ModelSet>()
  now = 0

  run({ keys, filter, order }: Query): number[] {
    if (keys?.some(key => !this.items.has(key))) throw new UnknownKey()
    return this.narrow(keys ?? [...this.items.keys()], filter, order)
  }

  /** Deleted members stay unless there is a filter; an order puts them where null is. */
  narrow(members: readonly number[], filter: Filter | undefined, order: Query['order']): number[] {
    const kept = filter ? members.filter(id => this.matches(id, filter)) : [...members]
    const value = (id: number): number => this.items.get(id)?.b ?? Number.NEGATIVE_INFINITY
    const compare = (x: number, y: number): number => (x < y ? -1 : x > y ? 1 : 0)
    if (order === 'asc') kept.sort((x, y) => compare(value(x), value(y)))
    if (order === 'desc') kept.sort((x, y) => compare(value(y), value(x)))
    return kept
  }

  /** Set that a request finds under an id, which counts as a use; undefined if there is none. @param mustLive it is not made again */
  open(id: string, mustLive = false): ModelSet | undefined {
    const set = this.sets.get(id)
    if (!set || (mustLive && set.expires <= this.now)) return undefined
    if (set.expires <= this.now) {
      if (!set.saved) return undefined
      set.members = this.run(set.saved)
      set.timeout = 600
    }
    set.expires = this.now + set.timeout
    return set
  }

  put(id: string, members: readonly number[], timeout: number, saved?: Query): void {
    this.sets.set(id, { members, timeout, expires: this.now + timeout, saved })
  }

  release(id: string): boolean {
    const set = this.sets.get(id)
    if (!set || set.expires <= this.now) return false
    set.expires = this.now
    return true
  }

  combine(operator: 'AND' | 'OR' | 'EXCEPT', left: readonly number[], right: readonly number[]): number[] {
    const other = new Set(right)
    const both = operator === 'OR' ? [...left, ...right] : left.filter(id => other.has(id) === (operator === 'AND'))
    return [...new Set(both)].sort((x, y) => x - y)
  }

  /** `__KEY` of each member; undefined for deleted ones. */
  shown(members: readonly number[]): (string | undefined)[] {
    return members.map(id => (this.items.has(id) ? String(id) : undefined))
  }

  private matches(id: number, { attribute, comparator, value }: Filter): boolean {
    const item = this.items.get(id)
    if (!item) return false
    const found = item[attribute]
    return comparator === '=' ? found === value : comparator === '<' ? found < value : found > value
  }
}
