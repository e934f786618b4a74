import { toParams } from '../../engine/query/parse/parse-params.ts'
import { columnsOf } from '../world/columns.ts'
import { syllableName } from '../world/names.ts'
import { differs, type EngineCase, engineCase, pageOf, readPage } from './engine-case.ts'

export const scanNumbers: EngineCase = engineCase({
  name: 'scan-numbers',
  title: 'count of an unindexed range of numbers',
  prepare: ({ engine, world }) => {
    const { salary } = columnsOf(world)
    const bounds = (n: number): [number, number] => [20_000 + world.pick(n, 80_000), 100_000 + world.pick(n, 20_000, 1)]
    return {
      units: world.employees,
      unit: 'rows',
      run: n =>
        readPage(engine, {
          dataClass: 'Employee',
          filter: 'salary >= :1 and salary < :2',
          params: toParams(bounds(n)),
        }),
      problemOf: (answer, n) => {
        const [from, to] = bounds(n)
        const expected = salary.filter(value => value >= from && value < to).length
        return differs('the count', pageOf(answer as Uint8Array).count, expected)
      },
    }
  },
})

export const scanText: EngineCase = engineCase({
  name: 'scan-text',
  title: 'count of texts that contain three letters',
  prepare: ({ engine, world }) => {
    const { name } = columnsOf(world)
    const part = (n: number) => syllableName(world.pick(n, world.names)).slice(2, 5)
    return {
      units: world.employees,
      unit: 'rows',
      run: n => readPage(engine, { dataClass: 'Employee', filter: `lastName = "@${part(n)}@"` }),
      problemOf: (answer, n) => {
        const contains = Array.from({ length: world.names }, (_, i) => syllableName(i).toLowerCase().includes(part(n)))
        const expected = name.filter(each => contains[each]).length
        return differs('the count', pageOf(answer as Uint8Array).count, expected)
      },
    }
  },
})
