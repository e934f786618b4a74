import { quantity } from '../../../engine/base/counted.ts'
import { parseExact, stringifyExact } from '../../../engine/base/exact-json.ts'
import { emptySummary, loadRows, type LoadSummary, rowReasons } from '../../../engine/command-line.ts'
import type { DataClass, Engine } from '../../../engine/index.ts'
import { brief } from './cells.ts'
import type { CloneJournal } from './clone-journal.ts'
import { type AttributeCopy, derivedKey, type TableCopy } from './plan-copy.ts'
import type { Cell, SqlSource } from './source.ts'

/** Rows of a batch; an interrupted copy reads up to one batch of a table again. */
const BATCH_ROWS = 20_000

export interface CopyContext {
  readonly engine: Engine
  readonly source: SqlSource
  readonly journal: CloneJournal
  readonly signal: AbortSignal | undefined
  /** Called with each row that cannot be saved: the row as JSON, and the reasons. */
  readonly onRejected: (dataClass: string, line: number, row: string, reasons: readonly string[]) => void
  /** Called at the end of a table, with a sentence for each column that lost something. */
  readonly onLoss: (loss: string) => void
  readonly onProgress: (dataClass: string, summary: Readonly<LoadSummary>) => void
}

/** A row as JSON text. */
interface CopiedRow {
  line: number
  text: string
  problem?: string
}

/** Saves the rows of a table as entities, without the foreign keys that are deferred. */
export async function copyTable(copy: TableCopy, context: CopyContext): Promise<LoadSummary> {
  const { engine, source, journal, signal } = context
  const { dataClass, table, orderedBy, attributes } = copy
  const before = journal.progress(dataClass)
  if (before?.isDone) return emptySummary()
  // Without keys from the source, copied entities cannot be distinguished from entities that are still missing.
  if (before && copy.isAnonymous) await removeAll(engine, dataClass)
  journal.note(dataClass, { after: before?.after })
  const where = before?.after !== undefined && orderedBy ? ` WHERE ${orderedBy} > ${before.after}` : ''
  const order = orderedBy ? ` ORDER BY ${orderedBy}` : ''
  const read = reader(copy, attributes)
  const keyIndex = attributes.findIndex(({ sql }) => sql === orderedBy)
  const ends: { position: number; key: string }[] = []
  let position = 0
  let areAllSettled = true
  async function* rows(): AsyncGenerator<CopiedRow[]> {
    for await (const part of source.stream(
      `SELECT ${read.columns}\nFROM ${table.from}${where}${order}`,
      read.streamed,
    )) {
      if (signal?.aborted) return
      yield part.map((cells, i) => read.row(cells, position + i))
      position += part.length
      const key = String(part.at(-1)![keyIndex])
      if (orderedBy && /^-?\d+$/.test(key)) ends.push({ position, key })
    }
  }
  return save(context, copy, rows(), before ? 'skip' : 'reject', outcome => {
    // A row that waits for another one is settled at the end.
    areAllSettled &&= outcome.kept.length === 0
    let after: string | undefined
    while (ends.length > 0 && ends[0]!.position <= outcome.position) after = ends.shift()!.key
    if (after !== undefined && areAllSettled) journal.note(dataClass, { after })
  })
    .then(summary => {
      if (!signal?.aborted) journal.note(dataClass, { isDone: true })
      return summary
    })
    .finally(() => read.losses().forEach(context.onLoss))
}

/** Saves the foreign keys that were left out. */
export async function copyDeferred(copy: TableCopy, context: CopyContext): Promise<LoadSummary> {
  const { engine, source, journal, signal, onRejected, onProgress } = context
  const { dataClass, table, key, deferred } = copy
  const step = `${dataClass}, relations`
  if (deferred.length === 0 || journal.progress(step)?.isDone) return emptySummary()
  const read = reader({ ...copy, key: '__KEY' }, [
    ...copy.attributes.filter(({ name }) => name === key).map(each => ({ ...each, name: '__KEY' })),
    ...deferred,
  ])
  const condition = deferred.map(({ sql }) => `${sql} IS NOT NULL`).join(' OR ')
  const summary = emptySummary()
  const reject = ({ line, text }: CopiedRow, reasons: readonly string[]): void => {
    summary.rejected++
    onRejected(dataClass, line, text, reasons)
  }
  for await (const part of source.stream(
    `SELECT ${read.columns}\nFROM ${table.from} WHERE ${condition}`,
    read.streamed,
  )) {
    if (signal?.aborted) return summary
    const rows = part.map((cells, i) => read.row(cells, summary.read + i))
    summary.read += rows.length
    for (const row of rows) if (row.problem !== undefined) reject(row, [row.problem])
    const readable = rows.filter(({ problem }) => problem === undefined)
    const body = Buffer.from(`[${readable.map(({ text }) => text).join(',')}]`)
    const request = {
      kind: 'save',
      dataClass,
      body,
      mode: 'update',
      atomic: false,
      trusted: true,
      anyStamp: true,
    } as const
    for (const [i, { failure }] of (await engine.saves.write(request)).entities.entries())
      if (failure) reject(readable[i]!, rowReasons(failure.error))
    onProgress(dataClass, summary)
  }
  if (!signal?.aborted) journal.note(step, { isDone: true })
  return summary
}

async function save(
  { engine, signal, onRejected, onProgress }: CopyContext,
  { dataClass, key, isNumbered }: TableCopy,
  rows: AsyncIterable<CopiedRow[]>,
  existing: 'reject' | 'skip',
  onSettled: (outcome: { position: number; kept: readonly number[] }) => void,
): Promise<LoadSummary> {
  return loadRows({
    target: engine.rows,
    dataClass: engine.catalog.dataClassesByName.get(dataClass) as DataClass,
    format: {},
    rows,
    existing,
    // The number of a rejected row is left out, because the next entity may receive it.
    onRejected: ({ line, text }, reasons) =>
      onRejected(dataClass, line, isNumbered ? without(key, text) : text, reasons),
    onProgress: summary => onProgress(dataClass, summary),
    onSettled,
    batchRows: BATCH_ROWS,
    signal,
  })
}

function without(name: string, text: string): string {
  const row = parseExact(text, 'numbers') as Record<string, unknown>
  delete row[name]
  return stringifyExact(row)
}

/** Rows that lost something in a column. */
interface Lost {
  rows: number
  /** The first of these rows, and its value. */
  readonly first: string
}

/** Columns of a SELECT, and functions that convert its cells to a row. */
function reader({ dataClass, key, keyParts = [] }: TableCopy, attributes: readonly AttributeCopy[]) {
  const names = attributes.map(({ name }) => `${JSON.stringify(name)}:`)
  const streamedAttributes = [...attributes, ...keyParts]
  const keyName = `${JSON.stringify(key)}:`
  const losses = new Map<AttributeCopy, Lost>()
  /** Names a row in a message. */
  const rowName = (cells: readonly Cell[], position: number): string => {
    const keyPosition = attributes.findIndex(({ name }) => name === key)
    const parts = keyPosition >= 0 ? [cells[keyPosition]!] : cells.slice(attributes.length)
    return parts.length > 0 ? `the key ${brief(parts.map(String).join('~'))}` : `row ${position + 1}`
  }
  return {
    losses: () =>
      Array.from(
        losses,
        ([{ name, loss }, { rows, first }]) =>
          `${dataClass}.${name}: ${loss!.what} are lost in ${quantity(rows, 'row')}, first in ${first}`,
      ),
    streamed: streamedAttributes,
    // Each column has a unique alias, because two columns may share a name.
    columns: streamedAttributes.map(({ sql }, i) => `${sql} AS c${i}`).join(', '),
    row(cells: readonly Cell[], position: number): CopiedRow {
      let text = ''
      const problems: string[] = []
      if (keyParts.length > 0) text = keyName + derivedKey(cells.slice(attributes.length))
      for (let i = 0; i < attributes.length; i++) {
        const cell = cells[i]!
        if (cell === null) continue
        let json: string
        try {
          json = attributes[i]!.read(cell)
        } catch (error) {
          problems.push(`${attributes[i]!.name}: ${(error as Error).message}`)
          json = cell instanceof Uint8Array ? 'null' : brief(cell)
        }
        if (attributes[i]!.loss?.has(cell)) {
          const lossReport = losses.get(attributes[i]!) ?? {
            rows: 0,
            first: `${rowName(cells, position)}: ${brief(cell)}`,
          }
          lossReport.rows++
          losses.set(attributes[i]!, lossReport)
        }
        text += text === '' ? names[i] + json : `,${names[i]}${json}`
      }
      const row = { line: position + 1, text: `{${text}}` }
      return problems.length === 0 ? row : { ...row, problem: problems.join('; ') }
    },
  }
}

async function removeAll(engine: Engine, dataClass: string): Promise<void> {
  const all = { dataClass, source: { kind: 'all' }, skip: 0, top: undefined, output: { form: 'collection' } } as const
  await engine.saves.delete(all, { atomic: false, owner: undefined, ifMatch: undefined })
}
