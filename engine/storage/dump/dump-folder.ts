import { createHash, type Hash } from 'node:crypto'
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import {
  ACCOUNT_FILES,
  ACCOUNT_FOLDER,
  type Accounts,
  BLOB_FOLDER,
  blobPath,
  DATA_FOLDER,
  decodeDescription,
  type Description,
  DESCRIPTION_FILE,
  DumpError,
  type DumpFile,
  isSha256,
  list,
  MODEL_FILE,
} from './dump-form.ts'

/** Maximum size of the description, a model, roles or a directory. */
const MAX_TEXT_BYTES = 64 * 2 ** 20
/** Maximum size of a line of a data file. */
const MAX_LINE_BYTES = 256 * 2 ** 20
const NEWLINE = 0x0a

/** Texts of consecutive lines of a data file. */
export interface Lines {
  readonly texts: readonly string[]
  /** Number of the first line. */
  readonly first: number
}

/** The folder of a dump. Everything in it is checked when it is read, and only regular files in it are opened. */
export class DumpFolder {
  readonly description: Description

  /** @throws {DumpError} */
  constructor(readonly path: string) {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats) throw new DumpError(`there is no dump in ${path}`)
    if (!stats.isDirectory()) throw new DumpError(`${path} is a file; a dump is a folder`)
    this.description = decodeDescription(this.readText(DESCRIPTION_FILE))
  }

  /** The model of the dump, as JSON; undefined if it has none. */
  model(): unknown {
    const { model } = this.description
    if (!model && !this.has(MODEL_FILE)) return undefined
    const text = this.readText(MODEL_FILE, model)
    try {
      return JSON.parse(text)
    } catch (error) {
      throw new DumpError(`${MODEL_FILE} is not JSON: ${(error as Error).message}`)
    }
  }

  /** Content of the files of roles, users and keys. */
  accounts(): Accounts {
    const { accounts } = this.description
    const read = (kind: keyof typeof ACCOUNT_FILES) => {
      const name = `${ACCOUNT_FOLDER}/${ACCOUNT_FILES[kind]}`
      return accounts?.[kind] || this.has(name) ? { [kind]: this.readText(name, accounts?.[kind]) } : {}
    }
    return { ...read('roles'), ...read('directory') }
  }

  /** Files with the entities of a dataclass. */
  filesOf(dataClass: string): readonly DumpFile[] {
    const classes = this.description.dataClasses
    const files = classes && Object.hasOwn(classes, dataClass) ? classes[dataClass]!.files : undefined
    if (files) return files
    return [`${DATA_FOLDER}/${dataClass}.ndjson.gz`, `${DATA_FOLDER}/${dataClass}.ndjson`]
      .filter(file => this.has(file))
      .map(file => ({ file }))
  }

  /** Refuses unknown files, and missing or superfluous images and blobs, in a dump of these dataclasses. */
  checkNames(dataClasses: readonly string[]): void {
    const data = new Set(dataClasses.flatMap(name => this.filesOf(name).map(({ file }) => file)))
    const accounts = Object.values(ACCOUNT_FILES).map(name => `${ACCOUNT_FOLDER}/${name}`)
    const isKnown = (name: string): boolean =>
      name === DESCRIPTION_FILE || name === MODEL_FILE || data.has(name) || accounts.includes(name)
    const folders = [DATA_FOLDER, BLOB_FOLDER, ACCOUNT_FOLDER]
    const fileNames = readdirSync(this.path).flatMap(name =>
      folders.includes(name) && name !== BLOB_FOLDER
        ? this.namesIn(name).map(inner => `${name}/${inner}`)
        : folders.includes(name)
          ? []
          : [name],
    )
    const unknown = fileNames.map(name => name.normalize('NFC')).filter(name => !isKnown(name))
    if (unknown.length > 0)
      throw new DumpError(`the dump has files that do not belong to it; remove them:\n${list(unknown)}`)
    const missingFiles = [...data].filter(file => !this.has(file))
    if (missingFiles.length > 0) throw new DumpError(`the dump lacks files:\n${list(missingFiles)}`)
    this.checkBlobs()
  }

  private checkBlobs(): void {
    const { blobs } = this.description
    let count = 0
    let bytes = 0
    for (const folder of this.has(BLOB_FOLDER) ? this.namesIn(BLOB_FOLDER) : []) {
      for (const name of this.namesIn(`${BLOB_FOLDER}/${folder}`)) {
        const path = `${BLOB_FOLDER}/${folder}/${name}`
        if (!isSha256(name) || blobPath(name) !== path)
          throw new DumpError(`${path} is not the name of an image or a blob, such as ${BLOB_FOLDER}/e3/e3b0c442…`)
        count++
        bytes += this.size(path)
      }
    }
    if (blobs && (blobs.count !== count || blobs.bytes !== bytes)) {
      throw new DumpError(
        `the dump has ${count} images and blobs of ${bytes} bytes, its description says ${blobs.count} of ${blobs.bytes}`,
      )
    }
  }

  /**
   * Lines of a data file, some at a time.
   * @throws {DumpError} when the file is damaged; where it has a digest, at its end at the latest
   */
  async *lines(file: DumpFile): AsyncGenerator<Lines> {
    const hash = createHash('sha256')
    const size = this.size(file.file)
    if (file.bytes !== undefined && size !== file.bytes)
      throw new DumpError(`${file.file} is damaged: it has ${size} bytes, the description says ${file.bytes}`)
    try {
      yield* splitLines(this.bytes(file.file, hash), file.file)
    } catch (error) {
      if (error instanceof DumpError || !('code' in (error as object))) throw error
      throw new DumpError(`${file.file} cannot be read: ${(error as Error).message}`)
    }
    if (file.sha256 !== undefined && hash.digest('hex') !== file.sha256) throw damagedFile(file.file)
  }

  private async *bytes(name: string, hash: Hash): AsyncGenerator<Buffer> {
    const file = createReadStream(join(this.path, name), { highWaterMark: 256 * 1024 })
    file.on('data', chunk => hash.update(chunk))
    // The callback is required, but its error can be ignored: iteration throws the same one.
    yield* (
      name.endsWith('.gz') ? pipeline(file, createGunzip({ chunkSize: 256 * 1024 }), () => {}) : file
    ) as AsyncIterable<Buffer>
  }

  private readText(name: string, expected?: { bytes: number; sha256: string }): string {
    const size = this.size(name)
    if (size > MAX_TEXT_BYTES) throw new DumpError(`${name} has ${size} bytes; at most ${MAX_TEXT_BYTES} are read`)
    const bytes = readFileSync(join(this.path, name))
    if (expected && createHash('sha256').update(bytes).digest('hex') !== expected.sha256) throw damagedFile(name)
    if (!isUtf8(bytes)) throw new DumpError(`${name} is not UTF-8`)
    return bytes.toString().replace(/^\uFEFF/, '')
  }

  private has(name: string): boolean {
    return lstatSync(join(this.path, name), { throwIfNoEntry: false }) !== undefined
  }

  private size(name: string): number {
    const fileStats = lstatSync(join(this.path, name), { throwIfNoEntry: false })
    if (!fileStats) throw new DumpError(`the dump in ${this.path} has no file ${name}`)
    if (!fileStats.isFile()) throw new DumpError(`${name} in ${this.path} is not a regular file`)
    return fileStats.size
  }

  private namesIn(folder: string): string[] {
    if (!lstatSync(join(this.path, folder)).isDirectory())
      throw new DumpError(`${folder} in ${this.path} is not a folder`)
    return readdirSync(join(this.path, folder))
  }
}

const damagedFile = (name: string): DumpError =>
  new DumpError(
    `${name} is damaged: its content does not have the digest in ${DESCRIPTION_FILE}. If it was edited, remove "bytes" and "sha256" there.`,
  )

/** @throws {DumpError} for a line that is too long, empty or not UTF-8 */
async function* splitLines(parts: AsyncIterable<Buffer>, name: string): AsyncGenerator<Lines> {
  let first = 1
  let pieces: Buffer[] = []
  let heldBytes = 0
  const read = (bytes: Buffer): Lines => {
    if (!isUtf8(bytes)) throw new DumpError(`${name}, from line ${first} on: it has bytes that are not UTF-8`)
    const texts = bytes.toString().split('\n')
    const empty = texts.findIndex(text => text === '' || text === '\r')
    if (empty >= 0) throw new DumpError(`${name}, line ${first + empty}: it is empty`)
    const lines = { texts, first }
    first += texts.length
    return lines
  }
  for await (const part of parts) {
    const end = part.lastIndexOf(NEWLINE)
    if (end >= 0) {
      yield read(Buffer.concat([...pieces, part.subarray(0, end)]))
      pieces = []
      heldBytes = 0
    }
    const remainder = part.subarray(end + 1)
    if (remainder.length > 0) pieces.push(remainder)
    heldBytes += remainder.length
    if (heldBytes > MAX_LINE_BYTES)
      throw new DumpError(`${name}, line ${first}: it has more than ${MAX_LINE_BYTES} bytes`)
  }
  // The last line may lack its line feed.
  if (heldBytes > 0) yield read(Buffer.concat(pieces))
}
