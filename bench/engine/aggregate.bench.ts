import { parsePathList } from '../../engine/index.ts'
import { columnsOf, summaryOf } from '../world/columns.ts'
import { differs, type EngineCase, engineCase } from './engine-case.ts'

export const aggregate: EngineCase = engineCase({
  name: 'aggregate',
  title: 'count, sum, average, minimum and maximum of a number',
  prepare: ({ engine, world }) => {
    const items = parsePathList('salary')
    return {
      units: world.employees,
      unit: 'rows',
      run: () =>
        engine.queries.compute(
          { dataClass: 'Employee', source: { kind: 'all' }, skip: 0, top: undefined, output: { form: 'collection' } },
          items,
          { function: 'all', distinct: false },
        ),
      problemOf: answer => {
        const expected = { salary: summaryOf(columnsOf(world).salary, () => true) }
        return differs('the answer', Buffer.from(answer as Uint8Array).toString(), JSON.stringify(expected))
      },
    }
  },
})
