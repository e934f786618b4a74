import { setTimeout as delay } from 'node:timers/promises'
import { oursPath } from '../http/http-case.ts'
import { type Cluster, startCluster } from '../postgres/cluster.ts'
import { openPool } from '../postgres/database.ts'
import { Child } from '../processes/child.ts'
import type { ServerQuestions } from '../processes/questions.ts'
import { milliseconds, rate, ratio } from '../report/numbers.ts'
import { median } from '../report/report.ts'
import { newFolder } from '../world/prepare.ts'
import { askJson, keepAsking } from './ask.ts'
import { ownServerCase } from './own-server-case.ts'
import { makePlace } from './place.ts'

const ROWS = 10_000
const READERS = 8
const SLOW = 20
const SLOW_SECONDS = 0.5
const TABLES = 500
const READS = 0.9
const START_MS = 5_000

const attributes = { ID: { type: 'long' }, name: { type: 'string' } }
const remote = (table: string) => ({ key: 'ID', storage: { postgres: 'main', table }, attributes })
const LOCAL = {
  key: 'ID',
  attributes: { ID: { type: 'long', autoFill: 'increment' }, name: { type: 'string' } },
}

let cluster: Cluster
let connections: object

/** Slow statements of a database during reads of the store, and a start with many tables. */
export default ownServerCase({
  name: 'databases',
  title: `${SLOW} statements of ${SLOW_SECONDS} s at once while ${READERS} connections read the store; a start with ${TABLES} tables`,
  postgres: true,
  async place() {
    cluster = await startCluster(newFolder())
    const pool = openPool(cluster, 1)
    await pool.query(
      `CREATE VIEW slow AS SELECT 1 AS "ID", 'a'::text AS name FROM (SELECT pg_sleep(${SLOW_SECONDS}) OFFSET 0) AS s`,
    )
    const tables = Array.from({ length: TABLES }, (_, i) => `CREATE TABLE t${i} ("ID" integer PRIMARY KEY, name text)`)
    await pool.query(tables.join(';'))
    await pool.end()
    const url = `postgres://bench@localhost/postgres?host=${encodeURIComponent(cluster.folder)}`
    connections = { main: { url, maxConnections: SLOW * 2 } }
    return makePlace({ name: 'databases', dataClasses: { Item: LOCAL, Slow: remote('slow') } }, 'store', {
      connections,
    })
  },
  async measure({ ours: { child, port }, seconds, rounds }) {
    try {
      const items = Array.from({ length: ROWS }, (_, i) => ({ name: `item ${i}` }))
      await askJson(port, `${oursPath('Item')}?$method=update`, items)
      const paths = Array.from({ length: ROWS }, (_, i) => oursPath(`Item(${((i * 7919) % ROWS) + 1})`))
      const length = Math.max(1, seconds) * 1000
      const rates = { alone: [] as number[], beside: [] as number[], slow: [] as number[], p99Ms: [] as number[] }
      for (let round = 0; round < rounds; round++) {
        const alone = await keepAsking(port, READERS, paths, delay(length))
        const over = delay(length)
        const [beside, slow] = await Promise.all([
          keepAsking(port, READERS, paths, over),
          keepAsking(port, SLOW, [oursPath('Slow')], over),
        ])
        rates.alone.push(alone.perSecond)
        rates.beside.push(beside.count / (length / 1000))
        rates.slow.push(slow.perSecond)
        rates.p99Ms.push(beside.p99Ms)
      }
      const startMs = await startOfMany()
      const share = median(rates.beside) / median(rates.alone)
      return {
        lines: [
          `reads beside: ${rate(median(rates.beside))}/s, p99 ${milliseconds(median(rates.p99Ms))} ms; alone: ${rate(median(rates.alone))}/s; ` +
            `slow statements: ${rate(median(rates.slow))}/s`,
          `from the start of a process with ${TABLES} tables to an entity of one: ${Math.round(startMs)} ms`,
        ],
        verdicts: [
          {
            case: this.name,
            goal: `reads beside ≥ ${ratio(READS)} of alone`,
            found: ratio(share),
            met: share >= READS,
          },
          {
            case: this.name,
            goal: `start ≤ ${START_MS} ms`,
            found: `${Math.round(startMs)} ms`,
            met: startMs <= START_MS,
          },
        ],
      }
    } finally {
      await child.stop()
      await cluster.stop()
    }
  },
})

/** Time from the start of a process until it has answered a request for one of its tables. */
async function startOfMany(): Promise<number> {
  const dataClasses = Object.fromEntries(Array.from({ length: TABLES }, (_, i) => [`T${i}`, remote(`t${i}`)]))
  const folder = makePlace({ name: 'many', dataClasses }, 'store', { connections }, 'many')
  const startedAt = performance.now()
  const many = new Child<ServerQuestions>('ours')
  try {
    const { port } = await many.ask('start', { folder, seed: 0, employees: 0 })
    await askJson(port, oursPath(`T${TABLES - 1}`))
    return performance.now() - startedAt
  } finally {
    await many.stop()
  }
}
