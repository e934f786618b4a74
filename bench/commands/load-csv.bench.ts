import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makePlace } from '../own-server/place.ts'
import { Child } from '../processes/child.ts'
import type { LoadedFile, LoadFileQuestions } from '../processes/questions.ts'
import { megabytes, rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { MODEL } from '../world/model.ts'
import { writeCsv } from '../world/write-csv.ts'
import type { CommandCase } from './command-case.ts'

const MAX_FACTOR = 1

const loadCsv: CommandCase = {
  name: 'load-csv',
  title: 'tesser load of all employees from CSV into an empty store, beside SQLite',
  async measure(world, rounds) {
    const folder = makePlace(MODEL, 'store', {}, 'load-csv')
    const companies = writeCsv(join(folder, 'companies.csv'), world.companies, row => world.company(row))
    const file = writeCsv(join(folder, 'employees.csv'), world.employees, row => world.employee(row))
    const results = { tesser: [] as LoadedFile[], sqlite: [] as LoadedFile[] }
    for (let round = 0; round < rounds; round++) {
      for (const target of ['sqlite', 'tesser'] as const) {
        rmSync(join(folder, 'store'), { recursive: true, force: true })
        mkdirSync(join(folder, 'store'))
        const child = new Child<LoadFileQuestions>('load-file')
        const result = await child.ask(target, { folder, companies, file })
        await child.stop()
        if (result.rows !== world.employees)
          throw new Error(`${target} has ${result.rows} rows and not ${world.employees}`)
        results[target].push(result)
      }
    }
    const seconds = (target: keyof typeof results) => median(results[target].map(each => each.seconds))
    const factor = seconds('tesser') / seconds('sqlite')
    const line = (target: keyof typeof results): string => {
      const cpu = median(results[target].map(each => each.cpuSeconds))
      return `${target} ${seconds(target).toFixed(2)} s, ${rate(world.employees / seconds(target))} rows/s, CPU ${cpu.toFixed(1)} s`
    }
    return {
      lines: [`${megabytes(statSync(file).size)} of CSV: ${line('tesser')}; ${line('sqlite')}`],
      verdicts: [
        { case: 'load-csv', goal: `≤ ${MAX_FACTOR} × SQLite`, found: ratio(factor), met: factor <= MAX_FACTOR },
      ],
    }
  },
}
export default loadCsv
