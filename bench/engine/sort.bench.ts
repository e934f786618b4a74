import { columnsOf } from '../world/columns.ts'
import { differs, type EngineCase, engineCase, pageOf, readPage } from './engine-case.ts'

const PAGE = 10

/** A page of all rows by birth date; its position decides between a heap and a full sort. */
const sortCase = (name: string, title: string, skipOf: (rows: number) => number): EngineCase =>
  engineCase({
    name,
    title,
    prepare: ({ engine, world }) => {
      const { birth } = columnsOf(world)
      const order = Uint32Array.from({ length: world.employees }, (_, row) => row).sort(
        (a, b) => birth[a]! - birth[b]! || a - b,
      )
      const skip = (n: number) => skipOf(world.employees) + n
      return {
        units: world.employees,
        unit: 'rows',
        run: n => readPage(engine, { dataClass: 'Employee', orderBy: 'birthDate', skip: skip(n), top: PAGE }),
        problemOf: (answer, n) => {
          const expected = order.subarray(skip(n), skip(n) + PAGE).map(row => row + 1)
          return differs('the page', pageOf(answer as Uint8Array).keys, expected)
        },
      }
    },
  })

export const sortTop: EngineCase = sortCase('sort-top', 'first rows of all by an unindexed date', () => 0)
export const sortAll: EngineCase = sortCase(
  'sort-all',
  'rows in the middle of all by an unindexed date',
  rows => rows / 2,
)
