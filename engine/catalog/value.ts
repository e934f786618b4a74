/**
 * A value of a storage attribute inside the engine.
 *
 * | type | value |
 * |---|---|
 * | bool | boolean |
 * | byte, word, long, number, float | number, finite |
 * | long64 | number when it is a safe integer, else bigint |
 * | decimal | the same, in units of its last place |
 * | date | number: milliseconds since 1970 UTC; of a date-only attribute midnight UTC |
 * | duration | number: milliseconds |
 * | string | string |
 * | uuid | string: 32 upper-case hex digits |
 * | object | JSON value (object or array) |
 * | vector | array of numbers, each the shortest decimal of a Float32 |
 * | image, blob | {@link BinaryValue} |
 *
 * Any of them may be null.
 */
export type Value = null | boolean | number | bigint | string | JsonContainer | BinaryValue

export type JsonContainer = { readonly [name: string]: unknown } | readonly unknown[]

export class BinaryValue {
  constructor(
    /** For example `image/png`; `application/octet-stream` for a blob. */
    readonly mediaType: string,
    /** Bytes of a small value; for others a file of the store, which never changes. */
    readonly content: Uint8Array | BinaryFile,
  ) {}

  /** All bytes, read from the file if necessary. Not to be used in the kernel thread. */
  get bytes(): Uint8Array {
    return this.content instanceof Uint8Array ? this.content : this.content.read()
  }

  /** In bytes. */
  get size(): number {
    return this.content instanceof Uint8Array ? this.content.byteLength : this.content.size
  }
}

export interface BinaryFile {
  /** 32 upper-case hex digits. */
  readonly id: string
  /** In bytes. */
  readonly size: number
  /** Digests of the file's pieces, see `binary-digest.ts`; undefined if an older version wrote the file. */
  readonly digests: Uint8Array | undefined
  /** @throws {Error} if the file is missing, or differs from what was written */
  read(): Uint8Array
}
