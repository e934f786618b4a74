import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { type Entry, open, type Options, type ZipFile } from 'yauzl'

/** Maximum bytes of a part that is read as a whole, unpacked. */
const MAX_WHOLE = 64 * 2 ** 20

/** The parts of an Office file by their names. */
export class Archive {
  private constructor(
    private readonly file: ZipFile,
    private readonly entries: ReadonlyMap<string, Entry>,
  ) {}

  /** @throws {Error} the file cannot be opened, or is not a ZIP archive */
  static async open(path: string): Promise<Archive> {
    const file = await promisify<string, Options, ZipFile>(open)(path, { autoClose: false })
    const entries = new Map<string, Entry>()
    try {
      await new Promise<void>((resolve, reject) => {
        file.on('entry', (entry: Entry) => entries.set(comparable(entry.fileName), entry))
        file.on('end', resolve)
        file.on('error', reject)
      })
    } catch (error) {
      file.close()
      throw error
    }
    return new Archive(file, entries)
  }

  /** The text of a part as it is unpacked. @throws {Error} there is no such part, or it is damaged */
  async *texts(part: string): AsyncGenerator<string> {
    const entry = this.entryOf(part)
    const stream = await new Promise<Readable>((resolve, reject) =>
      this.file.openReadStream(entry, (error, entryStream) => (error ? reject(error) : resolve(entryStream))),
    )
    const decoder = new TextDecoder('utf-8', { fatal: true })
    for await (const bytes of stream) yield decoder.decode(bytes as Buffer, { stream: true })
    yield decoder.decode()
  }

  /** The text of a small part. @throws {Error} if the part does not exist, is damaged, or is not small */
  async text(part: string): Promise<string> {
    this.checkSize(part, MAX_WHOLE)
    let content = ''
    for await (const text of this.texts(part)) content += text
    return content
  }

  /** @throws {Error} a part has more bytes, unpacked */
  checkSize(part: string, maxBytes: number): void {
    const size = this.entryOf(part).uncompressedSize
    if (size > maxBytes) throw new Error(`its part ${part} has ${size} bytes; at most ${maxBytes} are read`)
  }

  has(part: string): boolean {
    return this.entries.has(comparable(part))
  }

  /** True if a part has a part with its relations. */
  hasRelations(part: string): boolean {
    return this.has(relationsPart(part))
  }

  close(): void {
    this.file.close()
  }

  private entryOf(part: string): Entry {
    const entry = this.entries.get(comparable(part))
    if (!entry) throw new Error(`it has no part ${part}`)
    return entry
  }
}

/** Name of the part with the relations of a part. Source: ECMA-376, part 2, 6.5. */
export function relationsPart(part: string): string {
  const slash = part.lastIndexOf('/') + 1
  return `${part.slice(0, slash)}_rels/${part.slice(slash)}.rels`
}

/** Name of a part in the form for comparisons: in lower case, and without percent-encoding. Source: ECMA-376, part 2, 6.2.2. */
function comparable(part: string): string {
  try {
    return decodeURIComponent(part).toLowerCase()
  } catch {
    return part.toLowerCase()
  }
}
