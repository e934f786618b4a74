import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Engine, type EngineOptions, openEngine } from '../../../../engine/index.ts'
import type { ReadRequest } from '../../../../engine/query/contract/request.ts'
import { engineOptions } from '../../../support/engine/engine-options.ts'
import { readRequest } from '../../../support/engine/read-request.ts'

const MODEL = {
  name: 'items',
  dataClasses: {
    Group: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        items: { kind: 'relatedEntities', type: 'ItemSelection', inverseName: 'group' },
      },
    },
    Item: {
      key: 'ID',
      attributes: {
        ID: { type: 'long' },
        number: { type: 'long' },
        code: { type: 'string', indexed: true },
        note: { type: 'string' },
        info: { type: 'object' },
        groupID: { type: 'long' },
        group: { kind: 'relatedEntity', type: 'Group', foreignKey: 'groupID', inverseName: 'items' },
      },
    },
  },
} as const

export const optionsOf = (path: string, options: Partial<EngineOptions> = {}): EngineOptions =>
  engineOptions({ path, model: MODEL, ...options })

/** An engine over a separate folder with `count` items in groups of ten. Closed when the test ends. */
export async function openItems(t: Test, count: number, options: Partial<EngineOptions> = {}): Promise<Engine> {
  const path = mkdtempSync(join(tmpdir(), 'tesser-pool-'))
  const engine = await openEngine(optionsOf(path, options))
  t.teardown(async () => {
    await engine.close()
    rmSync(path, { recursive: true, force: true })
  })
  await save(
    engine,
    'Group',
    Array.from({ length: Math.ceil(count / 10) }, (_, i) => ({ ID: i })),
  )
  await save(
    engine,
    'Item',
    Array.from({ length: count }, (_, i) => ({
      ID: i,
      number: (i * 7919) % count,
      code: `c${i}`,
      note: `item ${i} of some words that are looked at`,
      groupID: Math.floor(i / 10),
    })),
  )
  return engine
}

export async function save(engine: Engine, dataClass: string, rows: readonly object[]): Promise<void> {
  const body = Buffer.from(JSON.stringify(rows))
  const { entities } = await engine.saves.write({ kind: 'save', dataClass, body, mode: 'update', atomic: false })
  const failed = entities.find(({ failure }) => failure)
  if (failed) throw new Error(JSON.stringify(failed.failure))
}

/** Request for all items, a page of one, unless `part` says otherwise. */
export const read = (part: Partial<ReadRequest> = {}): ReadRequest =>
  readRequest('Item', 'ID,number', { top: 1, ...part })

/** A filter that takes some microseconds for each row. */
export const SLOW = Array.from({ length: 40 }, (_, i) => `note % "w${i}@z"`).join(' or ')

/** Caller that waits for an answer, until `leave`. */
export function caller() {
  const callbacks: (() => void)[] = []
  return {
    aborted: false,
    onAborted(callback: () => void) {
      callbacks.push(callback)
    },
    leave() {
      this.aborted = true
      for (const callback of callbacks) callback()
    },
  }
}
