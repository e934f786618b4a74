import type { Test } from 'tap'
import type { Engine, EngineOptions } from '../../../../engine/index.ts'
import type { ReadRequest } from '../../../../engine/query/contract/request.ts'
import { insertRows } from '../../../../kernel/testing.ts'
import { engineOptions } from '../../../support/engine/engine-options.ts'
import { openTestEngine } from '../../../support/engine/test-engine.ts'
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
  const engine = await openTestEngine(t, { model: MODEL, ...options })
  await insertRows(
    engine.saves,
    'Group',
    Array.from({ length: Math.ceil(count / 10) }, (_, i) => ({ ID: i })),
  )
  await insertRows(
    engine.saves,
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
