import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import type { SettledRows } from './load-rows.ts'

/** File and options of a load: positions mean the same rows only if the file is read the same way. */
interface JournalHead {
  file: string
  size: number
  modifiedMs: number
  format: string
  delimiter: string | null
  encoding: string | null
}

/** Rows that an interrupted load has left to do. */
export interface Unsettled {
  /** All rows from here on. */
  position: number
  /** Rows before it that were kept for another try. */
  kept: ReadonlySet<number>
}

/** Progress of a load, line by line in the folder of the store, from its first row until the whole file is loaded. */
export class LoadJournal {
  private descriptor: number | undefined

  constructor(
    private readonly path: string,
    private readonly head: JournalHead,
  ) {}

  /** @throws {Error} if there is nothing to resume, or the file has changed */
  resume(): Unsettled {
    const lines = this.read()
    if (!lines) {
      throw new Error(`there is nothing to resume: no load of ${this.head.file} into this dataclass was interrupted`)
    }
    if (lines[0] !== JSON.stringify(this.head)) {
      throw new Error(
        `${this.head.file} or the options with which it is read have changed since its load was interrupted; --restart begins from the first row`,
      )
    }
    const left = unsettled(lines)
    this.descriptor = openSync(this.path, 'a', 0o600)
    // After an incomplete line, the next entry begins on a line of its own.
    writeSync(this.descriptor, '\n')
    return left
  }

  /** @throws {Error} if a load of the file was interrupted: the rows that it saved would be saved twice */
  refuseUnfinished(): void {
    const lines = this.read()
    if (!lines) return
    const file = parse<JournalHead>(lines[0]!)?.file ?? this.head.file
    const goesOn = file === this.head.file ? '--resume continues' : `--resume with ${file} continues`
    throw new Error(
      `a load of ${file} stopped after row ${unsettled(lines).position}; ${goesOn}, --restart begins from the first row`,
    )
  }

  /** Empties the journal; to be called before anything is saved. */
  begin(): void {
    this.descriptor = openSync(this.path, 'w', 0o600)
    this.write(this.head)
  }

  add(settled: SettledRows): void {
    this.write(settled)
  }

  private write(entry: JournalHead | SettledRows): void {
    writeSync(this.descriptor!, `${JSON.stringify(entry)}\n`)
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

  /** @param isDone nothing is left to resume */
  close(isDone: boolean): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    if (isDone) rmSync(this.path, { force: true })
  }
}

function unsettled([, ...lines]: readonly string[]): Unsettled {
  let position = 0
  const kept = new Set<number>()
  for (const line of lines) {
    const settled = parse<SettledRows>(line)
    // The process ended while writing this line.
    if (!settled) continue
    position = settled.position
    for (const each of settled.kept) kept.add(each)
    for (const each of settled.tried) kept.delete(each)
  }
  return { position, kept }
}

function parse<T>(line: string): T | undefined {
  try {
    return JSON.parse(line) as T
  } catch {
    return undefined
  }
}
