/**
 * Makes entity sets of all sizes in an endless loop, some of them in place of others, and releases some. Sends each one that is
 * acknowledged to its parent as `[id, number of members]`; around a release, `[id]` before it and `[id, null]` after it. The
 * parent kills the process.
 */
import { type RowMembers, setOf } from '../../engine/entity-set/members.ts'
import type { ReadRequest } from '../../engine/query/contract/request.ts'
import { city, openWorld } from './world.ts'

const CITIES = 10_000
const CLIENTS = 8
const [path] = process.argv.slice(2) as [string]
const engine = await openWorld(path)
const report = (...acknowledged: unknown[]): boolean => process.send!(acknowledged)
const dataClass = engine.catalog.dataClassesByName.get('City')!
const cities = Array.from({ length: CITIES }, (_, n) => ({ name: `city ${n}`, population: n }))
// The next process finds these cities in the store.
await engine.saves.write(city(cities))

async function make(worker: number): Promise<void> {
  for (let i = 0; ; i++) {
    // Every other set has an order, so that it is stored as a list, which is larger.
    const filter = `population < ${(i * 7919) % CITIES}`
    const orderBy = (i + worker) % 2 ? 'population desc' : undefined
    const source = { kind: 'all' } as const
    const request: ReadRequest = {
      dataClass: 'City',
      source,
      filter,
      orderBy,
      skip: 0,
      top: 1,
      output: { form: 'collection' },
    }
    const saved = i % 3 ? undefined : { source, filter: 'population < 5' }
    const set = await engine.entitySets.create(request, { saved })
    report(set.id, setOf(set.members as RowMembers).size)
    if (i % 4 === 3) {
      report(set.id)
      await engine.entitySets.release(dataClass, set.id)
      report(set.id, null)
    } else if (saved && i % 2) {
      report(set.id)
      await engine.entitySets.refresh(dataClass, set, {})
      report(set.id, 5)
    }
  }
}

await Promise.all(Array.from({ length: CLIENTS }, (_, worker) => make(worker)))
