/**
 * Entities that a kernel copies from shared memory are byte-identical to those that are written one by one from LMDB.
 */
import t from 'tap'
import { publicView } from '../../../../../engine/catalog/view.ts'
import { parsePathList } from '../../../../../engine/query/parse/parse-path-list.ts'
import type { Output } from '../../../../../engine/query/contract/request.ts'
import { bindProjection } from '../../../../../engine/query/serialise/bind-projection.ts'
import { writeArray, writeCollection } from '../../../../../engine/query/serialise/write-selection.ts'
import type { Snapshot } from '../../../../../engine/data/snapshot.ts'
import { randomOf } from '../../../../support/base/random.ts'
import { openMemoryWorld } from '../../../../support/engine/shared-memory.ts'
import { Pieces } from './piece-sink.ts'

const PEOPLE = 1_500
const model = {
  name: 'copied',
  dataClasses: {
    Company: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        ownerID: { type: 'long' },
        owner: { kind: 'relatedEntity', type: 'Person', foreignKey: 'ownerID' },
        staff: { kind: 'relatedEntities', type: 'PersonSelection', inverseName: 'employer' },
      },
    },
    Person: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        name: { type: 'string' },
        notes: { type: 'string' },
        secret: { type: 'string', scope: 'private' },
        employerID: { type: 'long' },
        employer: { kind: 'relatedEntity', type: 'Company', foreignKey: 'employerID', inverseName: 'staff' },
        firm: { kind: 'alias', path: 'employer.name' },
      },
    },
  },
}

const attributes = (text: string): Pick<Output, 'attributes'> => ({
  attributes: { from: 'parameter', items: parsePathList(text) },
})
const OUTPUTS: Record<string, Output> = {
  whole: { form: 'collection' },
  'first attributes': { form: 'collection', ...attributes('ID,name') },
  'attributes with gaps': { form: 'collection', ...attributes('ID,notes,employer') },
  'attributes in another order': { form: 'collection', ...attributes('notes,ID') },
  expanded: { form: 'collection', expand: parsePathList('employer') },
  'a part of the related entity, between others': { form: 'collection', ...attributes('name,employer.name,notes') },
  'an alias and the relation, twice': { form: 'collection', ...attributes('firm,employer.ID,employer,firm') },
  'a relation, and one with many below it': { form: 'collection', ...attributes('firm,employer.staff.name') },
  'several levels': { form: 'collection', expand: parsePathList('employer.owner') },
  array: { form: 'array' },
}

t.test('pages of any rows and attributes are the same, with deleted, repeated or very long rows', async t => {
  const random = randomOf(7)
  const world = openMemoryWorld(t, model)
  const { catalog, layouts } = world.rows
  const dataClass = catalog.dataClassesByName.get('Person')!
  world.commit(rows => {
    // The last company has more text to insert than is copied in one batch.
    for (let ID = 1; ID <= 20; ID++) rows.insert('Company', { ID, name: `Company ${ID}`.repeat(ID < 20 ? 1 : 20_000) })
    for (let ID = 1; ID <= PEOPLE; ID++) {
      const length = random.chance(0.02) ? random.integer(0, 30_000) : random.integer(0, 100)
      const notes = ID === 77 ? 'long '.repeat(60_000) : 'é"'.repeat(length)
      const employerID = random.chance(0.1) ? null : random.integer(1, ID < 1_000 ? 19 : 20)
      rows.insert('Person', { ID, name: `Person ${ID}`, notes, secret: 'secret', employerID })
    }
  })
  world.fill()
  world.commit(rows => {
    for (let i = 0; i < 200; i++) rows.delete('Person', i * 7)
    for (let ID = 1; ID < 20; ID += 2) {
      rows.update('Company', ID - 1, { ID, name: `Company ${ID}`, ownerID: ID === 5 ? null : ID * 20 })
    }
  })
  const pages = [
    Uint32Array.of(),
    Uint32Array.of(75, 76, 76, 78),
    Uint32Array.from({ length: 990 }, (_, i) => i),
    Uint32Array.from({ length: PEOPLE + 3 }, (_, i) => i),
    Uint32Array.from({ length: 1_200 }, () => random.integer(0, PEOPLE)),
  ]
  const answers = (snapshot: Snapshot): string[] =>
    Object.values(OUTPUTS).flatMap(output => {
      const limits = { maxExpandDepth: 5, maxAnswerBytes: 1e9 }
      const projection = bindProjection(dataClass, output, publicView(catalog), layouts, limits)
      return pages.map(rowIds => {
        const page = { count: rowIds.length, first: 0, rowIds }
        const write = output.form === 'array' ? writeArray : writeCollection
        return Buffer.from(write(page, projection, snapshot)).toString()
      })
    })
  const shared = world.reader(0)
  const expected = world.rows.open().read(answers)
  const found = shared.read(answers)
  t.ok(shared.read(snapshot => snapshot.table(dataClass).copyEntities))
  for (const [i, text] of found.entries()) {
    JSON.parse(text)
    t.ok(text === expected[i], `${Object.keys(OUTPUTS)[Math.floor(i / pages.length)]}, page ${i % pages.length}`)
  }
  shared.close()
})

t.test('a batch with more to insert than is copied together, after one that is copied', async t => {
  const world = openMemoryWorld(t, model)
  const { catalog, layouts } = world.rows
  const dataClass = catalog.dataClassesByName.get('Person')!
  world.commit(rows => {
    rows.insert('Company', { ID: 1, name: 'short' })
    rows.insert('Company', { ID: 2, name: 'long '.repeat(40_000) })
    for (let ID = 1; ID <= 12; ID++) rows.insert('Person', { ID, employerID: ID > 4 && ID <= 8 ? 2 : 1 })
  })
  world.fill()
  const output: Output = { form: 'collection', expand: parsePathList('employer') }
  const limits = { maxExpandDepth: 5, maxAnswerBytes: 1e9 }
  const projection = bindProjection(dataClass, output, publicView(catalog), layouts, limits)
  const rowIds = Uint32Array.from({ length: 12 }, (_, i) => i)
  const answer = (snapshot: Snapshot): string => {
    const sink = new Pieces(1, 4)
    return sink.whole(writeCollection({ count: 12, first: 0, rowIds }, projection, snapshot, {}, { sink }))
  }
  const shared = world.reader(0)
  const found = shared.read(answer)
  t.ok(found === world.rows.open().read(answer))
  const names = JSON.parse(found).__ENTITIES.map(({ employer }: { employer: { name: string } }) => employer.name.length)
  t.same(names, [...Array(4).fill(5), ...Array(4).fill(200_000), ...Array(4).fill(5)])
  shared.close()
})
