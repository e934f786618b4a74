import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readSync,
  type Stats,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { InputError } from '../../engine/base/input-error.ts'
import { describeSystemError } from '../../engine/base/system-error.ts'

/** Beginning of an error file: the header of CSV, an object with reasons, or a rejected row in another form. */
const BEGINNING = /^(?:\uFEFF?"?__LINE\b|\{"(?:__LINE|line)":)/
/** More bytes than any beginning. */
const BEGINNING_BYTES = 64

interface Options {
  /** Names the file if the user has not named one. It never leads through a link, which another user may have placed there. */
  readonly defaultPath: string
  /** Path that the user has named. */
  readonly path?: string | undefined
  /** Path of the file with the rows; undefined if they do not come from a file. */
  readonly source?: string | undefined
}

/** File of rows that could not be saved. Created with the first of these rows. */
export class ErrorFile {
  readonly path: string
  /** Size of the file. */
  bytes = 0
  /** First line of the file. */
  head: string | undefined
  private descriptor: number | undefined

  /** @throws {InputError} the file cannot be written, or would replace something else than an error file */
  constructor({ path, defaultPath, source }: Options) {
    this.path = path ?? defaultPath
    const problem = problemOf(this.path, path !== undefined, source)
    if (problem !== undefined)
      throw new InputError(`the file of errors cannot be written: ${problem}; name another one with --errors`)
  }

  /** Continues the file of an interrupted load, without the rows that this load reads again. */
  continueAt(bytes: number): void {
    this.bytes = Math.min(bytes, statSync(this.path, { throwIfNoEntry: false })?.size ?? 0)
    if (this.bytes === 0) return
    truncateSync(this.path, this.bytes)
    this.descriptor = openSync(this.path, 'a', 0o600)
  }

  /** @param row a line, see `rejectedRow` @throws {Error} the file cannot be written, such as on a full disk */
  add(row: string): void {
    try {
      if (this.descriptor === undefined) {
        this.descriptor = openSync(this.path, 'w', 0o600)
        if (this.head !== undefined) this.write(this.head)
      }
      this.write(row)
    } catch (error) {
      throw new Error(`the file of errors ${this.path} cannot be written: ${describeSystemError(error)}`, {
        cause: error,
      })
    }
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor)
    this.descriptor = undefined
  }

  /** Writes a whole line, where one system call may write a part of it. */
  private write(line: string): void {
    const bytes = Buffer.from(`${line}\n`)
    writeFileSync(this.descriptor!, bytes)
    this.bytes += bytes.length
  }
}

/** Why a path cannot be an error file; undefined if it can. @param isNamed the user has named the path */
function problemOf(path: string, isNamed: boolean, source: string | undefined): string | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
    if (isLink && !isNamed) return `${path} is a link`
    if (isLink && !stats) return `${path} is a link to something that does not exist`
    if (!stats) {
      // Without a name, the file may never be needed.
      if (isNamed) accessSync(dirname(path), constants.W_OK)
      return undefined
    }
    if (stats.isDirectory()) return `${path} is a folder`
    if (source !== undefined && isSame(stats, source)) return `${path} is the file with the rows`
    accessSync(path, constants.W_OK)
    return stats.isFile() && stats.size > 0 && !isErrorFile(path)
      ? `${path} exists and is not an error file of an earlier load`
      : undefined
  } catch (error) {
    return describeSystemError(error)
  }
}

function isSame({ dev, ino }: Stats, source: string): boolean {
  const other = statSync(source, { throwIfNoEntry: false })
  return other?.dev === dev && other.ino === ino
}

function isErrorFile(path: string): boolean {
  const descriptor = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(BEGINNING_BYTES)
    return BEGINNING.test(bytes.toString('utf8', 0, readSync(descriptor, bytes)))
  } finally {
    closeSync(descriptor)
  }
}
