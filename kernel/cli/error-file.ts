import { closeSync, openSync, statSync, truncateSync, writeSync } from 'node:fs'

/** File of rows that could not be saved. Created with the first of these rows. */
export class ErrorFile {
  /** Size of the file. */
  bytes = 0
  private descriptor: number | undefined

  /** @param head first line of the file */
  constructor(
    readonly path: string,
    public head?: string,
  ) {}

  /** Continues the file of an interrupted load, without the rows that this load reads again. */
  continueAt(bytes: number): void {
    this.bytes = Math.min(bytes, statSync(this.path, { throwIfNoEntry: false })?.size ?? 0)
    if (this.bytes === 0) return
    truncateSync(this.path, this.bytes)
    this.descriptor = openSync(this.path, 'a', 0o600)
  }

  /** @param row a line, see `rejectedRow` */
  add(row: string): void {
    if (this.descriptor === undefined) {
      this.descriptor = openSync(this.path, 'w', 0o600)
      if (this.head !== undefined) this.bytes += writeSync(this.descriptor, `${this.head}\n`)
    }
    this.bytes += writeSync(this.descriptor, `${row}\n`)
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
  }
}
