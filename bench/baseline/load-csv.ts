import { createReadStream } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { MODEL } from '../world/model.ts'
import { storageNames } from '../world/sqlite-database.ts'

/** Number of rows per transaction. */
const BATCH_ROWS = 5_000

type DataClass = keyof typeof MODEL.dataClasses

/**
 * Inserts the rows of a CSV file as fast as a script can: it splits lines at commas, does not handle quotes, and checks nothing.
 * @returns the number of rows
 */
export async function loadCsv(database: Database, dataClass: DataClass, file: string): Promise<number> {
  const names = storageNames(dataClass)
  const readers = names.map(name => readerOf(dataClass, name))
  const insert = database.prepare<unknown[]>(
    `INSERT INTO ${dataClass} (${names.join(', ')}, timestamp) VALUES (${names.map(() => '?').join(', ')}, ?)`,
  )
  const timestamp = new Date().toISOString()
  const insertAll = database.transaction((lines: readonly string[]) => {
    for (const line of lines) {
      const fields = line.split(',')
      insert.run(...readers.map((read, i) => read(fields[i]!)), timestamp)
    }
  })
  let rows = 0
  let lines: string[] = []
  let remainder = ''
  let isHeader = true
  for await (const part of createReadStream(file, { encoding: 'utf8', highWaterMark: 256 * 1024 })) {
    const parts = (remainder + part).split('\n')
    remainder = parts.pop()!
    if (isHeader) parts.shift()
    isHeader = false
    for (const line of parts) lines.push(line)
    if (lines.length < BATCH_ROWS) continue
    insertAll(lines)
    rows += lines.length
    lines = []
  }
  insertAll(lines)
  return rows + lines.length
}

function readerOf(dataClass: DataClass, name: string): (field: string) => unknown {
  const attributes = MODEL.dataClasses[dataClass].attributes as Record<string, { type: string }>
  const { type } = attributes[name]!
  if (type === 'long' || type === 'number') return Number
  return type === 'bool' ? field => (field === 'true' ? 1 : 0) : field => field
}
