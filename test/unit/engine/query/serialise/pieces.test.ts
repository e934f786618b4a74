/**
 * An answer that is sent piece by piece is byte-identical to one that is built as a whole.
 */
import t from 'tap'
import { publicView } from '../../../../../engine/catalog/view.ts'
import { parsePathList } from '../../../../../engine/query/parse/parse-path-list.ts'
import type { Output } from '../../../../../engine/query/contract/request.ts'
import type { AnswerContext } from '../../../../../engine/query/serialise/answer.ts'
import { bindProjection } from '../../../../../engine/query/serialise/bind-projection.ts'
import { writeSaved } from '../../../../../engine/write/answer/write-saved.ts'
import { writeArray, writeCollection, writeEntity } from '../../../../../engine/query/serialise/write-selection.ts'
import type { Snapshot } from '../../../../../engine/data/snapshot.ts'
import { type Random, randomOf } from '../../../../support/base/random.ts'
import { longCount, seeds } from '../../../../support/runner/rounds.ts'
import { openMemoryWorld } from '../../../../support/engine/shared-memory.ts'
import { Pieces } from './piece-sink.ts'

const PEOPLE = 400
const COMPANIES = 20
const model = {
  name: 'pieces',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        ownerID: { type: 'long' },
        owner: { kind: 'relatedEntity', type: 'Person', foreignKey: 'ownerID', inverseName: 'owned' },
        staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
      },
    },
    Person: {
      key: 'ID',
      defaultTopSize: 1_000,
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        notes: { type: 'object' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
        owned: { kind: 'relatedEntities', type: 'CompanySelection', inverseName: 'owner' },
        firm: { kind: 'alias', path: 'employer.name' },
      },
    },
  },
}
/** Values of `$expand`, by dataclass. */
const EXPANSIONS = {
  Company: ['', 'owner', 'staff', 'owner,staff:7-3', 'staff.owned', 'staff.owned.staff:30-1', '$all'],
  Person: ['', 'employer', 'owned', 'employer.staff:9-0', 'employer.owner.employer,owned.staff'],
}
const LISTS = {
  Company: [undefined, 'name,staff', 'staff,owner.name'],
  Person: [undefined, 'firm,notes.a,owned', 'ID'],
}
const LIMITS = { maxExpandDepth: 5, maxAnswerBytes: 2 ** 26 }

function randomOutput(random: Random, dataClass: 'Company' | 'Person', form: Output['form']): Output {
  const expand = random.pick(EXPANSIONS[dataClass])
  const list = random.pick(LISTS[dataClass])
  return {
    form,
    pretty: random.chance(0.2),
    ...(expand && { expand: parsePathList(expand) }),
    ...(list !== undefined && { attributes: { from: random.pick(['path', 'parameter']), items: parsePathList(list) } }),
  }
}

for (const seed of seeds(longCount(3))) {
  t.test(`world ${seed}: pieces of any size make the same answer`, async t => {
    const random = randomOf(seed)
    const world = openMemoryWorld(t, model)
    const { catalog, layouts } = world.rows
    world.commit(rows => {
      for (let ID = 1; ID <= COMPANIES; ID++) {
        rows.insert('Company', { ID, name: 'é"'.repeat(random.integer(0, ID === 3 ? 5_000 : 50)) })
      }
      for (let ID = 1; ID <= PEOPLE; ID++) {
        const notes = random.chance(0.3) ? null : { a: 'x'.repeat(random.integer(0, 100)), b: [] }
        // Most work for the first company.
        const employerID = random.chance(0.1) ? null : random.chance(0.6) ? 1 : random.integer(1, COMPANIES)
        rows.insert('Person', { ID, name: `Person ${ID}`, notes, employerID })
      }
    })
    world.commit(rows => {
      for (let ID = 1; ID <= COMPANIES; ID++) {
        rows.update('Company', ID - 1, { ID, name: `Company ${ID}`, ownerID: random.integer(1, 5) })
      }
      for (let i = 0; i < 20; i++) rows.delete('Person', 10 + i * 7)
    })
    const useShared = random.chance(0.5)
    if (useShared) world.fill()
    const store = useShared ? world.reader(0) : world.rows.open()
    store.read((snapshot: Snapshot) => {
      let several = 0
      for (let round = 0; round < 150; round++) {
        const name = random.pick(['Company', 'Person'] as const)
        const dataClass = catalog.dataClassesByName.get(name)!
        const form = random.pick(['collection', 'array', 'entity'] as const)
        const output = randomOutput(random, name, form)
        const projection = bindProjection(dataClass, output, publicView(catalog), layouts, LIMITS)
        const count = name === 'Person' ? PEOPLE : COMPANIES
        const length = random.pick([0, 1, 5, count])
        const rowIds = Uint32Array.from({ length }, (_, i) => (length === count ? i : random.integer(0, count - 1)))
        const isSaved = form === 'entity' && random.chance(0.5)
        const write = (context: AnswerContext): Uint8Array => {
          if (form === 'array') return writeArray({ rowIds }, projection, snapshot, context)
          if (form === 'collection') {
            return writeCollection({ count, first: 0, rowIds }, projection, snapshot, {}, context, { plan: 'x' })
          }
          if (!isSaved) return writeEntity(name === 'Company' ? 0 : 1, projection, snapshot, context)
          const entities = [...rowIds].flatMap(rowId => {
            const row = snapshot.table(dataClass).row(rowId)
            return row ? { rowId, row: row.copy().bytes } : []
          })
          return writeSaved({ kind: 'save', many: true, entities, globalStamp: 1 }, projection, snapshot, context)
        }
        const expected = Buffer.from(write({})).toString()
        const sink = new Pieces(random.pick([1, 9, 100, 4_000, 100_000]), random.pick([1, 2, 7, 1_000]))
        const found = sink.whole(write({ sink }))
        JSON.parse(found)
        if (sink.pieces.length > 1) several++
        if (found !== expected) {
          const at = [...expected].findIndex((character, i) => character !== found[i])
          t.fail(`${JSON.stringify({ name, output, isSaved, length, sizes: [sink.pieceBytes, sink.batchRows], at })}
${expected.slice(at - 80, at + 80)}
${found.slice(at - 80, at + 80)}`)
          return
        }
      }
      t.ok(several > 50, `${several} answers were in several pieces`)
    })
    store.close()
  })
}
