import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Engine, openEngine } from '../../engine/index.ts'
import type { SaveResult } from '../../engine/write/requests.ts'
import { MODEL } from '../world/model.ts'
import { differs, type EngineCase, engineCase } from './engine-case.ts'

/** Durable inserts into a store of its own, on the disk of the checkout: the folder for temporary files may be memory. */
const commit = (name: string, title: string, requests: number, rows: number): EngineCase =>
  engineCase({
    name,
    title,
    prepare: async ({ world }) => {
      mkdirSync('.tesser', { recursive: true })
      const folder = mkdtempSync(join('.tesser', 'bench-commit-'))
      const engine = await openEngine({
        path: folder,
        model: MODEL,
        wire: { dateOnlyFormat: 'iso' },
        allowLoss: false,
        mapSizeBytes: 2 ** 34,
        cacheBytes: 2 ** 20,
        limits: { timeoutMs: 10_000, maxRowsExamined: 1e6, maxExpandDepth: 1, maxAnswerBytes: 2 ** 26 },
        writeQueueBytes: 2 ** 28,
      })
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
          const saved = (answer as SaveResult[]).flatMap(result => result.entities.filter(each => !each.failure))
          return differs('the number of saved entities', saved.length, requests * rows)
        },
        close: async () => {
          await engine.close()
          rmSync(folder, { recursive: true })
        },
      }
    },
  })

const save = (engine: Engine, body: Uint8Array): Promise<SaveResult> =>
  engine.write({ kind: 'save', dataClass: 'Employee', body, mode: 'update', atomic: false })

export const commitCases: readonly EngineCase[] = [
  commit('commit-one', 'durable commit of one row', 1, 1),
  commit('commit-64', '64 requests of one row at once', 64, 1),
  commit('commit-1000', 'one request of 1,000 rows', 1, 1_000),
]
