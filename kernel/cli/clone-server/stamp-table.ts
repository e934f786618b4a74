import { createHash } from 'node:crypto'

const FREE = 0
const TAKEN = 1
const SEEN = 2

/**
 * Stamps by key, for millions of keys: 17 bytes each at half load. A key is identified by 64 bits of its SHA-1; that two of ten
 * million share them has a probability of 3 in a million.
 */
export class StampTable {
  private hashes: BigUint64Array
  private stamps: Float64Array
  private states: Uint8Array
  size = 0
  /** Number of keys that {@link see} has found. */
  seenCount = 0

  constructor(expected: number) {
    const slots = 2 ** Math.ceil(Math.log2(2 * expected + 16))
    this.hashes = new BigUint64Array(slots)
    this.stamps = new Float64Array(slots)
    this.states = new Uint8Array(slots)
  }

  get(key: string): number | undefined {
    const slot = this.slotOf(hashOf(key))
    return this.states[slot] === FREE ? undefined : this.stamps[slot]
  }

  set(key: string, stamp: number): void {
    if (this.size * 2 >= this.states.length) this.enlarge()
    const hash = hashOf(key)
    const slot = this.slotOf(hash)
    if (this.states[slot] === FREE) {
      this.states[slot] = TAKEN
      this.hashes[slot] = hash
      this.size++
    }
    this.stamps[slot] = stamp
  }

  /** Marks a key. @returns its stamp; undefined if the table does not have it */
  see(key: string): number | undefined {
    const slot = this.slotOf(hashOf(key))
    if (this.states[slot] === FREE) return undefined
    if (this.states[slot] === TAKEN) this.seenCount++
    this.states[slot] = SEEN
    return this.stamps[slot]
  }

  /** Sets the stamp of a key, and marks it. */
  add(key: string, stamp: number): void {
    this.set(key, stamp)
    this.see(key)
  }

  isSeen(key: string): boolean {
    return this.states[this.slotOf(hashOf(key))] === SEEN
  }

  private slotOf(hash: bigint): number {
    const { states, hashes } = this
    const mask = states.length - 1
    let slot = Number(hash & BigInt(mask))
    while (states[slot] !== FREE && hashes[slot] !== hash) slot = (slot + 1) & mask
    return slot
  }

  private enlarge(): void {
    const { hashes, stamps, states, size } = this
    const larger = new StampTable(size * 2)
    states.forEach((state, slot) => {
      if (state === FREE) return
      const to = larger.slotOf(hashes[slot]!)
      larger.states[to] = state
      larger.hashes[to] = hashes[slot]!
      larger.stamps[to] = stamps[slot]!
    })
    ;({ hashes: this.hashes, stamps: this.stamps, states: this.states } = larger)
  }
}

const hashOf = (key: string): bigint => createHash('sha1').update(key).digest().readBigUInt64LE(0)
