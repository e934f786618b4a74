/** Results of pieces of a save, with a double of its steps. */
import t from 'tap'
import { SavePieces } from '../../../../engine/postgres/writes/save-pieces.ts'
import type { ChangeOutcome } from '../../../../engine/postgres/writes/remote-transaction.ts'
import type { SavedEntity } from '../../../../engine/write/contract/requests.ts'

const SLICE = 6
const DONE = { kind: 'done', rowId: 1, row: {} } as ChangeOutcome
const REFUSED: ChangeOutcome = { kind: 'refused', problems: [] }

/** @param sizes numbers of entities of the pieces; undefined: one that needs rows that have not been read */
function save(sizes: readonly (number | undefined)[], { readsPending = false } = {}) {
  const entities: SavedEntity[] = [{ rowId: -1 }]
  const steps = {
    outcome: undefined,
    get count() {
      return entities.length
    },
    complete(start: number, end: number, entityOf: (entity: SavedEntity) => SavedEntity) {
      for (let i = start; i < end; i++) entities[i] = entityOf(entities[i]!)
    },
    checkpoint() {
      const { length } = entities
      return () => {
        entities.length = length
      }
    },
  }
  let next = 0
  const pieces = new SavePieces(steps as never, SLICE, async () => {
    const size = sizes[next++]
    if (size === undefined) return undefined
    const transaction = {
      changes: Array.from({ length: size }, (_, i) => `${next}.${i}`),
      readsPending,
      finished: (entity: SavedEntity, outcomes: readonly ChangeOutcome[]) => ({ ...entity, rowId: outcomes.length }),
    }
    const accept = () => entities.push(...Array.from({ length: size }, () => ({})))
    return { transaction, accept } as never
  })
  return { pieces, numbers: () => entities.map(({ rowId }) => rowId) }
}

t.test('results are completed as soon as the outcomes of their piece are known', async t => {
  const { pieces, numbers } = save([2, 1, 3, 9])
  t.same(await pieces.next([]), ['1.0', '1.1'])
  t.same(await pieces.next([DONE]), ['2.0'])
  t.same(numbers(), [-1, undefined, undefined, undefined], 'not all of the first piece')
  t.same(await pieces.next([DONE, DONE]), ['3.0', '3.1', '3.2'])
  t.same(numbers().slice(0, 4), [-1, 2, 2, undefined])
  t.equal(await pieces.next([DONE, DONE, DONE]), undefined, 'the slice ends')
  t.equal(pieces.finish(Array.from({ length: 6 }, () => DONE)), true)
  t.same(numbers(), [-1, 2, 2, 1, 3, 3, 3])
})

t.test('a refusal takes back the results of all pieces', async t => {
  const { pieces, numbers } = save([2, 4])
  await pieces.next([])
  await pieces.next([DONE, REFUSED])
  t.equal(pieces.finish([DONE, REFUSED, DONE, DONE, DONE, DONE]), false)
  t.same(numbers(), [-1])
})

t.test('so does work that has read a row whose outcome was not known', async t => {
  const { pieces, numbers } = save([6], { readsPending: true })
  await pieces.next([])
  t.equal(pieces.finish(Array.from({ length: 6 }, () => DONE)), false)
  t.same(numbers(), [-1])
})

t.test('a piece that needs rows ends the pieces', async t => {
  const { pieces, numbers } = save([2, undefined, 2])
  await pieces.next([])
  t.equal(pieces.isStopped, false)
  t.equal(await pieces.next([DONE, DONE]), undefined)
  t.equal(pieces.isStopped, true)
  t.equal(await pieces.next([DONE, DONE]), undefined, 'nothing is left to be checked')
  t.same(pieces.takeBack(), [])
  t.same(numbers(), [-1])
})
