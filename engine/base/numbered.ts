interface Entry<T> {
  readonly id: number
  readonly value: T
}

/**
 * Values by whole numbers, such as the open calls. In a `Map`, V8 would replace the table again and again while entries come and go, and
 * each old table would keep its contents alive until the next full garbage collection. This table is kept: a hash table with linear
 * probing, at most half full.
 */
export class Numbered<T> {
  private entries: (Entry<T> | undefined)[] = emptyEntries(MIN_LENGTH)
  private count = 0

  get size(): number {
    return this.count
  }

  /** @param id a number that has no value yet */
  set(id: number, value: T): void {
    if (2 * ++this.count > this.entries.length) {
      const { entries } = this
      this.entries = emptyEntries(2 * entries.length)
      for (const entry of entries) if (entry) this.put(entry)
    }
    this.put({ id, value })
  }

  get(id: number): T | undefined {
    return this.entries[this.placeOf(id)]?.value
  }

  has(id: number): boolean {
    return this.entries[this.placeOf(id)] !== undefined
  }

  delete(id: number): void {
    const { entries } = this
    let place = this.placeOf(id)
    if (!entries[place]) return
    this.count--
    entries[place] = undefined
    // The removed entry may have displaced the following ones.
    for (place = this.after(place); entries[place]; place = this.after(place)) {
      const entry = entries[place]!
      entries[place] = undefined
      this.put(entry)
    }
  }

  /** All values, in no order. */
  values(): T[] {
    const values: T[] = []
    for (const entry of this.entries) if (entry) values.push(entry.value)
    return values
  }

  /** All numbers, in no order. */
  ids(): number[] {
    return this.entries.flatMap(entry => entry?.id ?? [])
  }

  private put(entry: Entry<T>): void {
    this.entries[this.placeOf(entry.id)] = entry
  }

  /** Place of a number, or the free place where it would be stored. */
  private placeOf(id: number): number {
    const { entries } = this
    // Fibonacci hashing spreads consecutive numbers.
    let place = Math.imul(id, 0x9e3779b1) >>> Math.clz32(entries.length - 1)
    for (let entry = entries[place]; entry && entry.id !== id; entry = entries[place]) place = this.after(place)
    return place
  }

  private after(place: number): number {
    return (place + 1) & (this.entries.length - 1)
  }
}

/** Minimum length; a power of two, like all lengths. */
const MIN_LENGTH = 64
const emptyEntries = (length: number): undefined[] => Array.from({ length }, () => undefined)
