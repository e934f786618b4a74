import type { Engine } from '../../engine/index.ts'
import type { SaveResult } from '../../engine/write/contract/requests.ts'
import { MODEL } from '../world/model.ts'
import { differs, type EngineCase, engineCase } from './engine-case.ts'
import { openOwnStore } from './own-store.ts'

/** Durable inserts into a separate store. */
const commit = (name: string, title: string, requests: number, rows: number): EngineCase =>
  engineCase({
    name,
    title,
    prepare: async ({ world }) => {
      const { engine, close } = await openOwnStore(MODEL)
      const entities = Array.from({ length: rows }, (_, row) => {
        const { ID: _id, employerID: _employer, ...values } = world.employee(row)
        return values
      })
      const body = Buffer.from(JSON.stringify(entities))
      return {
        units: requests * rows,
        unit: 'rows',
        run: () => Promise.all(Array.from({ length: requests }, () => save(engine, body))),
        problemOf: answer => {
          const savedEntities = (answer as SaveResult[]).flatMap(result =>
            result.entities.filter(each => !each.failure),
          )
          return differs('the number of saved entities', savedEntities.length, requests * rows)
        },
        close,
      }
    },
  })

const save = (engine: Engine, body: Uint8Array): Promise<SaveResult> =>
  engine.saves.write({ kind: 'save', dataClass: 'Employee', body, mode: 'update', atomic: false })

export const commitCases: readonly EngineCase[] = [
  commit('commit-one', 'durable commit of one row', 1, 1),
  commit('commit-64', '64 requests of one row at once', 64, 1),
  commit('commit-1000', 'one request of 1,000 rows', 1, 1_000),
]
