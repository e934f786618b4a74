import { closeSync, existsSync, fdatasyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { CLONE_FILES } from '../../main.ts'

/** Progress of one table. */
interface TableProgress {
  /** Key up to which all rows have been saved or rejected. */
  readonly after?: string | undefined
  readonly isDone?: boolean
}

interface Line extends TableProgress {
  readonly source?: string
  readonly step?: string
}

/** Progress of a copy, line by line in a file in the folder of the store. The file exists until the copy is complete. */
export class CloneJournal {
  private readonly path: string
  private readonly steps = new Map<string, TableProgress>()
  private descriptor: number | undefined

  constructor(private readonly folder: string) {
    this.path = join(folder, CLONE_FILES.database)
  }

  /** @throws {Error} if there is a store already */
  begin(source: string): void {
    if (existsSync(this.path))
      throw new Error(
        `a copy into ${this.folder} was interrupted; --resume continues it, or remove the folder to begin again`,
      )
    if (existsSync(join(this.folder, 'data.mdb')))
      throw new Error(`${this.folder} already has a store; name a folder (--data) without one`)
    mkdirSync(this.folder, { recursive: true, mode: 0o700 })
    this.descriptor = openSync(this.path, 'w', 0o600)
    this.write({ source })
  }

  /** @throws {Error} if no copy of this source was interrupted */
  resume(source: string): void {
    if (!existsSync(this.path))
      throw new Error(`there is nothing to resume: no copy into ${this.folder} was interrupted`)
    const [head, ...lines] = readFileSync(this.path, 'utf8').split('\n').flatMap(parse)
    if (head?.source !== undefined && head.source !== source)
      throw new Error(`${this.folder} has a partial copy of ${head.source}, not of ${source}`)
    for (const { step, ...progress } of lines) if (step !== undefined) this.steps.set(step, progress)
    this.descriptor = openSync(this.path, 'a', 0o600)
    // After an incomplete line, the next entry begins on a new line.
    writeSync(this.descriptor, '\n')
  }

  /** @returns undefined if the step has not begun */
  progress(step: string): TableProgress | undefined {
    return this.steps.get(step)
  }

  note(step: string, progress: TableProgress): void {
    this.write({ step, ...progress })
  }

  /** @param isDone true if nothing remains to be resumed */
  close(isDone: boolean): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
    if (isDone) rmSync(this.path, { force: true })
  }

  private write(line: Line): void {
    writeSync(this.descriptor!, `${JSON.stringify(line)}\n`)
    fdatasyncSync(this.descriptor!)
  }
}

function parse(text: string): Line[] {
  try {
    return text.trim() === '' ? [] : [JSON.parse(text) as Line]
  } catch {
    // The process ended while it was writing this line.
    return []
  }
}
