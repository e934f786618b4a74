import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AnswerBody } from '../answer/answer-body.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import type { ReadStore } from '../data/read-store.ts'
import type { Access, Views } from '../permission/views.ts'
import { copyBytes } from '../base/promised.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import {
  isOfRows,
  prepareSaved,
  type SavedShape,
  type SavedWriter,
  savedWriter,
  STORED_ONLY,
} from '../write/answer/answer-saved.ts'
import { isTooLarge, SerialiseErrors } from '../answer/serialise-errors.ts'
import { guardSnapshot } from '../data/restricted-snapshot.ts'
import type { Snapshot } from '../data/snapshot.ts'
import { needsOf } from '../data/suspended.ts'
import type { SavedArgs } from '../write/answer/saved-task.ts'
import { PackedResult, statusOf } from '../write/contract/packed-result.ts'
import type { SavedEntity, SaveResult } from '../write/contract/requests.ts'
import type { Caller } from '../caller/caller.ts'
import type { Backends } from '../backend/backends.ts'

export interface SaveAnswer {
  /** HTTP status: the status of the first failure. */
  readonly status: number
  /** JSON. */
  readonly body: AnswerBody
}

export interface PreparedAnswer {
  readonly answer: (result: SaveResult, caller?: Caller) => Promise<SaveAnswer>
  /** True if the answer shows nothing but the saved rows: it can be written before readers see them. */
  readonly isOfRows: () => boolean
}

interface SavedAnswersOptions {
  readonly data: ReadStore
  readonly views: Views
  readonly limits: QueryLimits
  /** Names of dataclasses with restrict events. */
  readonly restricted: ReadonlySet<string>
  readonly backends: Backends
}

/** Maximum entities, and bytes of their rows, that are written in one event loop turn if the pool does not write them. */
const SLICE_ENTITIES = 500
const SLICE_BYTES = 512 * 1024

/**
 * Writes the answers to saves: small ones in this turn of the kernel thread, large ones and those that show related entities in
 * the pool. If the pool refuses or exceeds the deadline, the entities are saved nevertheless, so the answer is written in the
 * kernel thread, slice by slice, with stored attributes only.
 */
export class SavedAnswers {
  constructor(private readonly options: SavedAnswersOptions) {}

  /**
   * Prepares an answer before anything is saved.
   * @throws {ProtocolError} the output is invalid; {@link Suspended}
   */
  prepare(dataClass: DataClass, access: Access | undefined, shape: SavedShape): PreparedAnswer {
    const { data, views, limits } = this.options
    const scope = { view: views.of(access), layouts: data.layouts, limits }
    const write = prepareSaved(dataClass, shape, scope)
    const answer: PreparedAnswer['answer'] = async (result, caller) => {
      const status = statusOf(result)
      const isShort = shape.output.returning !== undefined && status === 200
      if (isShort || (!(result instanceof PackedResult) && !showsRelated(shape))) {
        try {
          // Copied, because all saves of one transaction are answered before the first answer is sent.
          return { status, body: this.read(snapshot => Buffer.from(write(result, snapshot))) }
        } catch (error) {
          // An alias refers to data in a database.
          if (!needsOf(error)) throw error
        }
      }
      try {
        return { status, body: await this.inPool(dataClass, access, shape, result, caller) }
      } catch (error) {
        if (caller?.aborted || isTooLarge(error)) throw error
        return { status, body: await this.inSlices(result, shape, savedWriter(dataClass, shape, scope, STORED_ONLY)) }
      }
    }
    return { answer, isOfRows: () => isOfRows(dataClass, shape, scope) }
  }

  private async inPool(
    dataClass: DataClass,
    access: Access | undefined,
    { mode, atomic, output }: SavedShape,
    result: SaveResult,
    caller: Caller | undefined,
  ): Promise<AnswerBody> {
    const request = {
      dataClass: dataClass.name,
      access,
      source: { kind: 'all' },
      skip: 0,
      top: undefined,
      output,
    } as const
    const sentResult = result instanceof PackedResult ? result.packedSave : result
    return copyBytes(
      this.options.backends.run(
        { kind: 'saved', request, args: { mode, atomic, result: sentResult } satisfies SavedArgs },
        caller,
      ),
    )
  }

  private async inSlices(result: SaveResult, { mode, output }: SavedShape, write: SavedWriter): Promise<Uint8Array> {
    // Failures of one save are bounded.
    if (output.returning) return this.read(snapshot => write(result, snapshot).slice())
    const { maxAnswerBytes } = this.options.limits
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (const entities of slicesOf(result, mode === 'validate')) {
      if (pieces.length > 0) await nextTurn()
      const slice = { kind: 'save', many: result.many, globalStamp: result.globalStamp, entities } as const
      const piece = this.read(snapshot => write(slice, snapshot).slice())
      bytes += piece.length
      if (bytes > maxAnswerBytes) throw SerialiseErrors.ANSWER_TOO_LARGE(maxAnswerBytes)
      pieces.push(piece)
    }
    return joinAnswers(pieces)
  }

  private read<T>(work: (snapshot: Snapshot) => T): T {
    const { data, restricted } = this.options
    return data.read(snapshot => work(guardSnapshot(snapshot, restricted)))
  }
}

const showsRelated = ({ output: { expand, attributes } }: SavedShape): boolean =>
  expand !== undefined ||
  (attributes?.from === 'parameter' &&
    attributes.items.some(({ path }: { path: readonly string[] }) => path.length > 1))

/** Slices of a result, at least one. @param isProblems only failures are shown */
function* slicesOf({ entities }: SaveResult, isProblems: boolean): Generator<SavedEntity[]> {
  const shownEntities = isProblems ? entities.filter(({ failure }) => failure) : entities
  let slice: SavedEntity[] = []
  let bytes = 0
  for (const entity of shownEntities) {
    if (slice.length === SLICE_ENTITIES || bytes > SLICE_BYTES) {
      yield slice
      slice = []
      bytes = 0
    }
    slice.push(entity)
    bytes += entity.row?.length ?? 0
  }
  yield slice
}

const OPEN = 0x5b
const CLOSE = 0x5d
const COMMA = Uint8Array.of(0x2c)

/** Joins several answers, each with an array of entities, into one. */
function joinAnswers(pieces: readonly Uint8Array[]): Uint8Array {
  const [first, ...others] = pieces
  if (others.length === 0) return first!
  const inner = (piece: Uint8Array) => piece.subarray(piece.indexOf(OPEN) + 1, piece.lastIndexOf(CLOSE))
  return Buffer.concat([
    first!.subarray(0, first!.lastIndexOf(CLOSE)),
    ...others.flatMap(piece => [COMMA, inner(piece)]),
    first!.subarray(first!.lastIndexOf(CLOSE)),
  ])
}
