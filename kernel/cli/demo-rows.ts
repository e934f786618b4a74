import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { readJsonFile } from '../../config/read-json-file.ts'

/** `demo.json`: the file with the rows of all dataclasses, and their numbers, in the order in which the file contains and loads them. */
interface Demo {
  rows: string
  load: { dataClass: string; count: number }[]
}

const unpack = promisify(brotliDecompress)

/** Reads the rows of a demo, as NDJSON by dataclass. @param folder of `demo.json` */
export async function readDemoRows(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  const { rows, load } = readJsonFile(join(folder, 'demo.json'), 'demo') as Demo
  const bytes = await unpack(readFileSync(join(folder, rows)))
  let start = 0
  return new Map(
    load.map(({ dataClass, count }) => {
      const part = bytes.subarray(start, endOfLines(bytes, start, count))
      start += part.length
      return [dataClass, part]
    }),
  )
}

function endOfLines(bytes: Buffer, start: number, count: number): number {
  let end = start
  for (let i = 0; i < count; i++) end = bytes.indexOf('\n', end) + 1
  return end
}
