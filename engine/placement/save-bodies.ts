import type { JsonBounds } from '../base/json-bounds.ts'
import { jsonMembers, type JsonMembers } from '../base/json-members.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Caller } from '../caller/caller.ts'
import { rowBatch } from '../import/row-batch.ts'
import type { RowFormat } from '../import/row-reader.ts'
import type { SaveRequest } from '../write/contract/requests.ts'
import { bodyLimits, type SaveLimits, TRUSTED_BODY } from '../write/contract/write-limits.ts'
import { readParts } from './body-task.ts'
import type { QueryPool } from './pool/query-pool.ts'

/** Maximum size of a body that the writer parses as a whole, in some milliseconds. */
const WHOLE_BODY_BYTES = 512 * 1024
/** Size of a slice of a copy, which takes up to a millisecond in fresh memory. */
const COPIED_BYTES = 2 ** 18
/**
 * Minimum size of the parts of a body that are read together, in some milliseconds, and maximum number of such shares, which wait in the
 * queue of the pool.
 */
const MIN_SHARE_BYTES = 256 * 1024
const MAX_SHARES = 8
/** Maximum time for a batch of rows from the operator, far above the deadline of queries. */
const MAX_ENCODING_MS = 3_600_000

/** Maximum size of a command that is parsed here, in a millisecond or two. */
const PARSED_BYTES = 64 * 1024

interface SaveBodiesOptions {
  readonly pool: QueryPool
  readonly limits: SaveLimits
  /** See `PoolOptions.inlineCostMs`. */
  readonly inlineCostMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Reads the bodies of saves, and rows of files, in the pool: in the kernel thread or in the writer, this would hold up other requests. */
export class SaveBodies {
  private readonly minBytes: number

  constructor(private readonly options: SaveBodiesOptions) {
    this.minBytes = options.inlineCostMs === 0 ? 0 : WHOLE_BODY_BYTES
  }

  /** True for a body that the writer should not read as a whole. */
  isLarge({ body }: SaveRequest): boolean {
    return body.byteLength > this.minBytes
  }

  /**
   * Checks a large body, splits it, and encodes its new entities.
   * @param passesCode true if plugin code may change the values
   */
  async read(request: SaveRequest, passesCode: boolean, caller: Caller | undefined): Promise<SaveRequest> {
    const { pool, limits, now } = this.options
    const { dataClass, trusted, access, mode, ifMatch, user } = request
    // The same moment for all parts, and for the elements that the writer encodes.
    const moment = request.moment ?? now()
    // In shared memory, neither the pool nor the writer copies it.
    const body = await copyShared(withoutMark(request.body))
    // A new entity has no version.
    const encode =
      mode === 'update' && !ifMatch && !passesCode ? { dataClass, access, trusted, user, moment } : undefined
    // The parts are bytes, because no clients wait for these answers.
    const split = { kind: 'split', body, limits: trusted ? TRUSTED_BODY : bodyLimits(request, limits) } as const
    const parts = readParts((await pool.run(split, caller)) as Uint8Array)
    const shares = sharesOf(parts.ranges, body.length)
    const read = await Promise.allSettled(
      shares.map(share => pool.run({ kind: 'parts', body, encode, ...share }, caller)),
    )
    const encodedParts = read.map(outcome => {
      // The first of several errors in the body.
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value as Uint8Array
    })
    return { ...request, body, parts, ...(encode && { encoded: encodedParts, moment }) }
  }

  /** Members of the JSON object in the body of a command; a large one is parsed in the pool. @throws as {@link jsonMembers} */
  async jsonMembers(body: Uint8Array, bounds: JsonBounds, caller?: Caller): Promise<JsonMembers> {
    if (body.byteLength <= PARSED_BYTES) return jsonMembers(body, bounds)
    const bytes = (await this.options.pool.run({ kind: 'members', body, bounds }, caller)) as Uint8Array
    return JSON.parse(Buffer.from(bytes).toString()) as JsonMembers
  }

  /** Reads and encodes the texts of rows of a file, with the rights of the operator. @returns as `packRows` packs them */
  async encodeRows(
    dataClass: string,
    format: RowFormat,
    texts: readonly string[],
    moment = this.options.now(),
  ): Promise<Uint8Array> {
    const encode = { dataClass, access: undefined, trusted: true, moment }
    const task = { kind: 'rows', batch: await rowBatch(format, texts), encode } as const
    return (await this.options.pool.run(task, undefined, Date.now() + MAX_ENCODING_MS)) as Uint8Array
  }
}

/** Without the byte order mark that some programs write before JSON. */
const withoutMark = (body: Uint8Array): Uint8Array =>
  body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body

/** Copies bytes into shared memory, in slices: fresh memory of 32 MiB costs some 20 ms. */
async function copyShared(bytes: Uint8Array): Promise<Uint8Array> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength))
  for (let at = 0; at < bytes.byteLength; at += COPIED_BYTES) {
    if (at > 0) await nextTurn()
    copy.set(bytes.subarray(at, at + COPIED_BYTES), at)
  }
  return copy
}

/** Shares of the parts of a body, one for each task of the pool, so that several are in progress at the same time. */
function sharesOf(ranges: Uint32Array, bytes: number): { ranges: Uint32Array; first: number }[] {
  const shareBytes = Math.max(MIN_SHARE_BYTES, bytes / MAX_SHARES)
  const shares: { ranges: Uint32Array; first: number }[] = []
  let first = 0
  for (let start = 0, i = 0, count = 0; i < ranges.length; i += 3) {
    count += ranges[i + 2]!
    const end = i + 3
    if (ranges[i + 1]! - ranges[start]! < shareBytes && end < ranges.length) continue
    shares.push({ ranges: ranges.slice(start, end), first })
    first += count
    count = 0
    start = end
  }
  return shares
}
