import { emptySummary, type InterruptedLoad, type LoadOptions, type LoadRow, type LoadSummary } from './load-options.ts'
import { RowReader } from './row-reader.ts'
import { RowSaver } from './row-saver.ts'

/**
 * Number of rows in a transaction. Posting lists of a value are written once in each, so that one large transaction costs less than ten
 * small ones.
 */
const BATCH_ROWS = 50_000
/** Maximum number of characters in a batch: images make rows long, and a batch is one message to the writer. */
const BATCH_CHARACTERS = 16 * 2 ** 20
/** Maximum number of rows kept for another try at the end; further ones are rejected at once. */
const MAX_WAITING = 200_000
/** Maximum number of characters of these rows. */
const MAX_WAITING_CHARACTERS = 2 ** 28
/** Batches that are read while another one is saved. */
const BATCHES_AHEAD = 1

/**
 * Saves rows in batches. Rows that refer to entities later in the file are tried again at the end, as long as that makes progress.
 * @throws {Error} from the source of the rows; saved rows stay saved
 */
export async function loadRows(options: LoadOptions): Promise<LoadSummary> {
  const load = new Load(options)
  // Batches are saved one after the other; meanwhile the next ones are read.
  const open: Promise<void>[] = []
  let writing: Promise<void> = Promise.resolve()
  try {
    for await (const batch of batches(options)) {
      if (open.length > BATCHES_AHEAD) await open.shift()
      writing = load.add(batch, writing)
      // A failure surfaces when the promise is awaited, with a later batch; until then it must not count as unhandled.
      writing.catch(() => {})
      open.push(writing)
    }
  } finally {
    await writing
  }
  // Kept rows may refer to rows that have not been read.
  if (!options.signal?.aborted) await load.retry()
  return load.summary
}

class Load {
  readonly summary: LoadSummary
  private readonly saver: RowSaver
  /** Reads rows as they are in the file. */
  private readonly reader: RowReader
  private waitingRows: { row: LoadRow; reasons: readonly string[] }[] = []
  private waitingCharacters = 0
  private position: number

  constructor(private readonly options: LoadOptions) {
    this.summary = options.summary ?? emptySummary()
    this.position = options.resumed?.position ?? 0
    this.reader = new RowReader(options.dataClass, options.format)
    this.saver = new RowSaver(options, this.summary, (row, isEarly, reasons) => this.keep(row, isEarly, reasons))
  }

  /** Encodes a batch, and saves it after the one before. */
  async add(batch: readonly LoadRow[], before: Promise<void>): Promise<void> {
    const [packedRows] = await Promise.all([this.saver.encode(batch), before])
    if (this.summary.read === 0) this.options.onBegin?.()
    this.summary.read += batch.length
    await this.saver.save(batch, packedRows)
    this.settle(batch, false)
  }

  /** Tries waiting rows again until none of them can be saved. */
  async retry(): Promise<void> {
    for (let before = Number.POSITIVE_INFINITY; this.waitingRows.length > 0 && this.waitingRows.length < before; ) {
      before = this.waitingRows.length
      const rows = this.waitingRows.map(({ row }) => row)
      this.waitingRows = []
      this.waitingCharacters = 0
      for (let start = 0; start < rows.length; start += BATCH_ROWS) {
        const batch = rows.slice(start, start + BATCH_ROWS)
        await this.saver.saveAgain(batch)
        this.settle(batch, true)
      }
    }
    for (const { row, reasons } of this.waitingRows) this.reject(row, reasons)
  }

  /** @param isRetry the rows were kept for another try */
  private settle(batch: readonly LoadRow[], isRetry: boolean): void {
    const { resumed, onSettled, onProgress } = this.options
    const waitingPositions = new Set(this.waitingRows.map(({ row }) => row.position))
    const [keptPositions, triedPositions]: [number[], number[]] = [[], []]
    for (const { position } of batch) {
      const wasKept = isRetry || resumed?.kept.has(position) === true
      if (!wasKept) this.position = Math.max(this.position, position + 1)
      if (waitingPositions.has(position) !== wasKept) (wasKept ? triedPositions : keptPositions).push(position)
    }
    onSettled?.({ position: this.position, kept: keptPositions, tried: triedPositions })
    onProgress?.(this.summary)
  }

  /** @param isEarly a later row may be the entity that this one refers to */
  private keep(row: LoadRow, isEarly: boolean, reasons: readonly string[]): void {
    if (isEarly && this.options.isTrial) this.summary.later++
    else if (isEarly && this.mayWait(row)) this.waitingRows.push({ row, reasons })
    else this.reject(row, reasons)
  }

  private mayWait({ text }: LoadRow): boolean {
    if (this.waitingRows.length >= MAX_WAITING || this.waitingCharacters > MAX_WAITING_CHARACTERS) return false
    this.waitingCharacters += text.length
    return true
  }

  private reject(row: LoadRow, reasons: readonly string[]): void {
    this.summary.rejected++
    this.options.onRejected({ ...row, ...this.reader.read(row) }, reasons)
  }
}

/** The rows that are to be saved, with their positions. */
async function* batches({ rows, resumed, signal, batchRows = BATCH_ROWS }: LoadOptions): AsyncGenerator<LoadRow[]> {
  let position = 0
  let batch: LoadRow[] = []
  let characters = 0
  for await (const some of rows) {
    if (signal?.aborted) break
    for (const text of some) {
      const row: LoadRow = Object.assign(text, { position: position++ })
      if (resumed && isDone(row, resumed)) continue
      batch.push(row)
      characters += row.text.length
      if (batch.length < batchRows && characters < BATCH_CHARACTERS) continue
      yield batch
      batch = []
      characters = 0
    }
  }
  if (batch.length > 0) yield batch
}

const isDone = (row: LoadRow, { position, kept, savedRows: saved }: InterruptedLoad): boolean =>
  saved.has(row.position) || (row.position < position && !kept.has(row.position))
