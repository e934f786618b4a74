import { createHash, randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isJsonObject } from '../../engine/base/json-object.ts'
import type { LoadOptions, RowFormat } from '../../engine/command-line.ts'
import type { LoadProgress } from '../../engine/index.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'
import type { ErrorFile } from './error-file.ts'
import { type Entry, parse, readUnsettled, type Unsettled } from './journal-entries.ts'

/** File and options of a load: positions mean the same rows only if the file is read the same way. */
interface JournalHead {
  file: string
  size: number
  modifiedMs: number
  format: string
  delimiter: string | null
  skipLines: number | null
  path?: string | undefined
  encoding: string | null
  sheet?: string | undefined
  headerRow?: number | undefined
  links?: boolean | undefined
}

/** Mark in the store for the last request of a load, if the request's entities are there. */
interface StoredMark {
  readonly key: string
  /** @returns a {@link LoadProgress} */
  read(): unknown
}

type Hooks = Pick<LoadOptions, 'onBegin' | 'onSend' | 'onReceived' | 'onSettled'>

/** Progress of a load, line by line in the folder of the store, from its first row until the whole file is loaded. */
export class LoadJournal {
  private descriptor: number | undefined

  constructor(
    private readonly path: string,
    private readonly head: JournalHead,
    private readonly mark: StoredMark | undefined,
  ) {}

  /** @throws {Error} if there is nothing to resume, the file has changed, or the journal is damaged */
  resume(): Unsettled {
    const lines = this.read()
    if (!lines) {
      throw new Error(`there is nothing to resume: no load of ${this.head.file} into this dataclass was interrupted`)
    }
    this.fileIn(lines)
    if (lines[0] !== JSON.stringify(this.head)) {
      throw new Error(
        `${this.head.file} or the options for reading it have changed since its load was interrupted; ${RESTART}`,
      )
    }
    const remainder = this.unsettledIn(lines)
    this.checkStore(remainder)
    this.descriptor = openSync(this.path, 'a', 0o600)
    // After an incomplete line, the next entry begins on a line of its own.
    writeFileSync(this.descriptor, '\n')
    if (remainder.lastRequest && this.mark) this.writeOutcome(addStored(remainder, this.mark.read()))
    return remainder
  }

  /** @throws {Error} if a load of the file was interrupted: the rows that it saved would be saved twice */
  refuseUnfinished(): void {
    const lines = this.read()
    if (!lines) return
    const file = this.fileIn(lines)
    const goesOn = file === this.head.file ? '--resume continues' : `--resume with ${file} continues`
    throw new Error(`a load of ${file} stopped after row ${this.unsettledIn(lines).position}; ${goesOn}, ${RESTART}`)
  }

  /** The file of the interrupted load. @throws {Error} the head is damaged */
  private fileIn([head]: readonly string[]): string {
    const value = parse(head!)
    const file = isJsonObject(value) ? (value as Partial<JournalHead>).file : undefined
    if (typeof file === 'string') return file
    throw this.damaged('line 1 is damaged')
  }

  /** @throws {Error} a line is damaged */
  private unsettledIn([, ...lines]: readonly string[]): Unsettled {
    try {
      return readUnsettled(lines)
    } catch (error) {
      throw this.damaged((error as Error).message)
    }
  }

  /** @throws {Error} the journal and the store do not belong together: one of them is damaged, or is an earlier copy */
  private checkStore({ lastIds, hasSaved }: Unsettled): void {
    if (!this.mark) return
    const { id } = (this.mark.read() ?? {}) as Partial<LoadProgress>
    if (id === undefined ? hasSaved : !lastIds.has(id)) throw this.damaged('the store has other rows of this load')
  }

  /** @param count rows of the file @throws {Error} the interrupted load has settled more of them */
  checkRows({ position }: Unsettled, count: number): void {
    if (position > count) throw this.damaged(`it ends after row ${position}, and ${this.head.file} has ${count}`)
  }

  private damaged(reason: string): Error {
    return new Error(`the progress of an interrupted load in ${this.path} cannot be used: ${reason}; ${RESTART}`)
  }

  /** Hooks by which the journal records a load. */
  hooks(errors: ErrorFile, proposals: RowFormat['proposed']): Hooks {
    return {
      onBegin: () => {
        if (this.descriptor === undefined) this.begin(proposals)
      },
      onSend: rows => {
        const id = randomUUID()
        this.write({ id, rows: ranges(rows) })
        return this.mark && { key: this.mark.key, id }
      },
      onReceived: leftIndexes => this.writeOutcome(leftIndexes),
      onSettled: outcome => this.write({ ...outcome, errorBytes: errors.bytes }),
    }
  }

  /** Empties the journal, before anything is saved. */
  private begin(proposals: RowFormat['proposed']): void {
    // Removed, so that a link is not followed.
    rmSync(this.path, { force: true })
    this.descriptor = openSync(this.path, 'wx', 0o600)
    this.write(this.head)
    if (proposals) this.write({ proposed: proposals })
  }

  /** Writes the outcome of a request. The next entry makes it durable; until then the store has it. */
  private writeOutcome(indexes: readonly number[]): void {
    writeFileSync(this.descriptor!, line({ left: indexes }))
  }

  private write(entry: JournalHead | Entry): void {
    writeFileSync(this.descriptor!, line(entry))
    fdatasyncSync(this.descriptor!)
  }

  private read(): string[] | undefined {
    try {
      return readFileSync(this.path, 'utf8').trim().split('\n')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw new Error(
        `the progress of an interrupted load in ${this.path} cannot be read: ${describeSystemError(error)}`,
        {
          cause: error,
        },
      )
    }
  }

  /** @param isDone true if nothing remains to be resumed */
  close(isDone: boolean): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    if (isDone) rmSync(this.path, { force: true })
  }
}

/** Maximum bytes of the name of a file in most file systems. */
const MAX_NAME = 255

/** Name of the journal of a load. */
export function journalName(into: string, name: string): string {
  const text = `load.${into}.${name}.ndjson`
  if (Buffer.byteLength(text) <= MAX_NAME) return text
  return `load.${createHash('sha256').update(`${into}.${name}`).digest('hex')}.ndjson`
}

const RESTART = '--restart begins from the first row'

const line = (entry: JournalHead | Entry): string => `${JSON.stringify(entry)}\n`

/**
 * Adds the rows that the last request of an earlier load has saved, according to the store.
 * @param mark a {@link LoadProgress}
 * @returns indexes of the other rows of the request
 */
function addStored({ savedRows, lastRequest, uncertain }: Unsettled, mark: unknown): number[] {
  const { id, next = 0, left } = (mark ?? {}) as Partial<LoadProgress>
  const open = new Set(left)
  return lastRequest!.rows.flatMap((row, index) => {
    uncertain.delete(row)
    if (id !== lastRequest!.id || index >= next || open.has(index)) return [index]
    savedRows.add(row)
    return []
  })
}

function ranges(rows: readonly number[]): [number, number][] {
  const pairs: [number, number][] = []
  for (const row of rows) {
    const last = pairs.at(-1)
    if (last && last[1] + 1 === row) last[1] = row
    else pairs.push([row, row])
  }
  return pairs
}
