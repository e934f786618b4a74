import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { load } from '../../kernel/cli/load.ts'
import { loadCsv } from '../baseline/load-csv.ts'
import { createTables, openDatabase } from '../world/sqlite-database.ts'
import { worldConfig } from '../world/tesser-store.ts'
import { answerParent } from './answer-parent.ts'
import { cpu } from './memory.ts'
import type { LoadedFile, LoadFileQuestions } from './questions.ts'

/** Loads a file of companies and a file of employees, and measures the latter. Every commit is on the disk. */
answerParent<LoadFileQuestions>({
  async tesser({ folder, companies, file }) {
    const config = worldConfig(folder)
    const output = new PassThrough() as unknown as NodeJS.WriteStream
    let text = ''
    output.on('data', part => {
      text += part
    })
    await load(config, { file: companies, into: 'Company', update: false }, output)
    return timeLoad(async () => {
      text = ''
      await load(config, { file, into: 'Employee', update: false }, output)
      return Number(/(\d+) inserted/.exec(text)?.[1])
    })
  },
  async sqlite({ folder, companies, file }) {
    const database = openDatabase(join(folder, 'store'))
    const createIndexes = createTables(database)
    await loadCsv(database, 'Company', companies)
    return timeLoad(async () => {
      const rows = await loadCsv(database, 'Employee', file)
      createIndexes()
      database.close()
      return rows
    })
  },
  close: () => null,
})

async function timeLoad(work: () => Promise<number>): Promise<LoadedFile> {
  const startedAt = performance.now()
  const before = cpu()
  const rows = await work()
  return { rows, seconds: (performance.now() - startedAt) / 1000, cpuSeconds: (cpu() - before) / 1e6 }
}
