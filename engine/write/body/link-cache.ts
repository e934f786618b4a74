import { DistinctBytes } from '../../base/distinct-bytes.ts'
import { viewOf } from './rows-builder.ts'

const INITIAL_BYTES = 4096

/** Links to related entities by the bytes of their keys: many elements have the same foreign key. */
export class LinkCache {
  private readonly keys = new DistinctBytes()
  private readonly numbers: number[] = []
  private readonly indexNumbers: number[] = []
  private bytes = Buffer.alloc(INITIAL_BYTES)
  /** The links as UTF-8, one after the other. */
  view = viewOf(this.bytes)
  private readonly ends: number[] = [0]

  /** Place of the key `source[start…end]`; a new one has to be added next. */
  placeOf(source: Uint8Array, start: number, end: number): number {
    return this.keys.numberOf(source, start, end)
  }

  /** Number of keys that have been added. */
  get count(): number {
    return this.numbers.length
  }

  /** Number of the foreign key, as `RowsBuilder` counts. */
  number(place: number): number {
    return this.numbers[place]!
  }

  /** Number of the foreign key in its index, if it has one. */
  indexNumber(place: number): number {
    return this.indexNumbers[place]!
  }

  start(place: number): number {
    return this.ends[place]!
  }

  end(place: number): number {
    return this.ends[place + 1]!
  }

  /** Adds the link for a new key. */
  add(json: string, number: number, indexNumber: number): void {
    const start = this.ends.at(-1)!
    const length = Buffer.byteLength(json)
    if (start + length > this.bytes.length) {
      const grown = Buffer.alloc(2 * (start + length))
      this.bytes.copy(grown, 0, 0, start)
      this.bytes = grown
      this.view = viewOf(grown)
    }
    this.bytes.write(json, start)
    this.ends.push(start + length)
    this.numbers.push(number)
    this.indexNumbers.push(indexNumber)
  }
}
