import { RowSet } from '../../engine/row-set/row-set.ts'
import { random } from '../world/random.ts'
import { differs, type EngineCase, engineCase } from './engine-case.ts'

const LIMIT = 1_000_000

/** Row ids, each in the set with a probability of `share`. */
const ids = (seed: number, share: number): Uint32Array =>
  Uint32Array.from({ length: LIMIT }, (_, id) => id).filter(id => random(seed, id, 0) < share)

const algebra = (operation: 'and' | 'or' | 'minus', share: number, title: string): EngineCase =>
  engineCase({
    name: `set-${operation}-${share === 0.5 ? 'dense' : 'sparse'}`,
    title,
    prepare: () => {
      const [left, right] = [ids(1, 0.5), ids(2, share)]
      const inRight = new Set(right)
      const common = left.reduce((count, id) => count + Number(inRight.has(id)), 0)
      const expected = { and: common, or: left.length + right.length - common, minus: left.length - common }[operation]
      const [a, b] = [RowSet.fromSorted(left), RowSet.fromSorted(right)]
      return {
        units: left.length + right.length,
        unit: 'ids',
        run: () => a[operation](b),
        problemOf: answer => differs('the size', (answer as RowSet).size, expected),
      }
    },
  })

export const rowSetCases: readonly EngineCase[] = [
  algebra('and', 0.5, 'AND of two sets of 500 k of 1 M rows'),
  algebra('or', 0.5, 'OR of the same'),
  algebra('minus', 0.5, 'the first without the second'),
  algebra('and', 0.001, 'AND of 500 k and of 1 k of 1 M rows'),
]
