import { toParams } from '../../engine/query/parse/parse-params.ts'
import { columnsOf } from '../world/columns.ts'
import { differs, type EngineCase, engineCase, pageOf, readPage } from './engine-case.ts'

export const joinToOne: EngineCase = engineCase({
  name: 'join-to-one',
  title: 'count of employees of companies with great revenues',
  prepare: ({ engine, world }) => {
    const { employer } = columnsOf(world)
    const revenues = Float64Array.from({ length: world.companies }, (_, row) => world.company(row).revenues)
    const least = (n: number) => 1e8 + world.pick(n, 8e8)
    return {
      units: world.employees,
      unit: 'rows',
      run: n =>
        readPage(engine, { dataClass: 'Employee', filter: 'employer.revenues > :1', params: toParams([least(n)]) }),
      problemOf: (answer, n) => {
        const expected = employer.filter(company => revenues[company]! > least(n)).length
        return differs('the count', pageOf(answer as Uint8Array).count, expected)
      },
    }
  },
})

export const joinToMany: EngineCase = engineCase({
  name: 'join-to-many',
  title: 'count of companies with a well-paid employee',
  prepare: ({ engine, world }) => {
    const { employer, salary } = columnsOf(world)
    const least = (n: number) => 100_000 + world.pick(n, 19_000)
    return {
      units: world.employees,
      unit: 'rows',
      run: n => readPage(engine, { dataClass: 'Company', filter: 'staff.salary > :1', params: toParams([least(n)]) }),
      problemOf: (answer, n) => {
        const companies = new Set(employer.filter((_, row) => salary[row]! > least(n)))
        return differs('the count', pageOf(answer as Uint8Array).count, companies.size)
      },
    }
  },
})
