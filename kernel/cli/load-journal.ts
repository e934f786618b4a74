import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import type { InterruptedLoad, LoadOptions, RowFormat, SettledRows } from '../../engine/command-line.ts'
import type { LoadProgress } from '../../engine/index.ts'
import type { ErrorFile } from './error-file.ts'

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

/** A line of the journal, with one group of these properties. */
interface Entry extends Partial<SettledRows>, Pick<RowFormat, 'proposed'> {
  /** Written with settled rows: size of the error file, including those of the rows that were not saved. */
  readonly errorBytes?: number
  /** Identifies a request, before it is sent. */
  readonly id?: string
  /** Positions of the request's rows, as ranges: first and last. */
  readonly rows?: readonly (readonly [number, number])[]
  /** Outcome of the last request: indexes of its rows that were not saved. */
  readonly left?: readonly number[]
}

/** A request whose outcome is not known. */
interface SentRequest {
  readonly id: string
  /** Positions of its rows. */
  readonly rows: readonly number[]
}

/** Rows that an interrupted load has completed. */
interface Unsettled extends InterruptedLoad {
  /** See {@link RowFormat}. */
  proposed: RowFormat['proposed']
  readonly savedRows: Set<number>
  readonly uncertain: Set<number>
  /** Size of the error file when the last rows were settled; rows after it are read again. */
  errorBytes: number
  /** The last of these requests, if it was the last request of the load. */
  lastRequest: SentRequest | undefined
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

  /** @throws {Error} if there is nothing to resume, or the file has changed */
  resume(): Unsettled {
    const lines = this.read()
    if (!lines) {
      throw new Error(`there is nothing to resume: no load of ${this.head.file} into this dataclass was interrupted`)
    }
    if (lines[0] !== JSON.stringify(this.head)) {
      throw new Error(
        `${this.head.file} or the options for reading it have changed since its load was interrupted; --restart begins from the first row`,
      )
    }
    const remainder = readUnsettled(lines)
    this.descriptor = openSync(this.path, 'a', 0o600)
    // After an incomplete line, the next entry begins on a line of its own.
    writeSync(this.descriptor, '\n')
    if (remainder.lastRequest && this.mark) this.writeOutcome(addStored(remainder, this.mark.read()))
    return remainder
  }

  /** @throws {Error} if a load of the file was interrupted: the rows that it saved would be saved twice */
  refuseUnfinished(): void {
    const lines = this.read()
    if (!lines) return
    const file = parse<JournalHead>(lines[0]!)?.file ?? this.head.file
    const goesOn = file === this.head.file ? '--resume continues' : `--resume with ${file} continues`
    throw new Error(
      `a load of ${file} stopped after row ${readUnsettled(lines).position}; ${goesOn}, --restart begins from the first row`,
    )
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
    this.descriptor = openSync(this.path, 'w', 0o600)
    this.write(this.head)
    if (proposals) this.write({ proposed: proposals })
  }

  /** Writes the outcome of a request. The next entry makes it durable; until then the store has it. */
  private writeOutcome(indexes: readonly number[]): void {
    writeSync(this.descriptor!, line({ left: indexes }))
  }

  private write(entry: JournalHead | Entry): void {
    writeSync(this.descriptor!, line(entry))
    fdatasyncSync(this.descriptor!)
  }

  private read(): string[] | undefined {
    try {
      return readFileSync(this.path, 'utf8').trim().split('\n')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  /** @param isDone true if nothing remains to be resumed */
  close(isDone: boolean): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    if (isDone) rmSync(this.path, { force: true })
  }
}

const line = (entry: JournalHead | Entry): string => `${JSON.stringify(entry)}\n`

function readUnsettled([, ...lines]: readonly string[]): Unsettled {
  let position = 0
  let errorBytes = 0
  const keptRows = new Set<number>()
  const savedRows = new Set<number>()
  const uncertain = new Set<number>()
  let lastRequest: SentRequest | undefined
  let proposals: RowFormat['proposed']
  for (const text of lines) {
    // The process may have ended while writing a line.
    const entry: Entry = parse(text) ?? {}
    proposals ??= entry.proposed
    if (entry.id !== undefined) {
      lastRequest = { id: entry.id, rows: positions(entry.rows!) }
      for (const row of lastRequest.rows) uncertain.add(row)
    } else if (entry.left) {
      const leftIndexes = new Set(entry.left)
      lastRequest?.rows.forEach((row, index) => {
        uncertain.delete(row)
        if (!leftIndexes.has(index)) savedRows.add(row)
      })
      lastRequest = undefined
    } else if (entry.position !== undefined) {
      position = Math.max(position, entry.position)
      errorBytes = entry.errorBytes!
      for (const each of entry.kept!) keptRows.add(each)
      for (const each of entry.tried!) keptRows.delete(each)
      for (const rows of [savedRows, uncertain]) {
        for (const row of rows) if (row < position && !keptRows.has(row)) rows.delete(row)
      }
    }
  }
  return { position, kept: keptRows, savedRows, uncertain, errorBytes, lastRequest, proposed: proposals }
}

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

const positions = (ranges: NonNullable<Entry['rows']>): number[] =>
  ranges.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i))

function parse<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T
  } catch {
    return undefined
  }
}
