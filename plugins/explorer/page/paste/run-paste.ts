/** Sends a pasted table to the server, to be checked without saving, or saved. */
import type { DataClass } from '../base/catalog.ts'
import { ask, RestError } from '../base/rest.ts'
import type { WorkControl } from '../base/work.ts'
import { entityOf } from '../entity/json-text.ts'
import { batchesOf, createdIn, faultsIn, type RowFault, type SentRow } from './batches.ts'

export interface PasteReport {
  /** Rows without an error. */
  readonly good: number[]
  readonly faults: RowFault[]
  /** Keys of entities that did not exist before. */
  readonly created: string[]
}

/**
 * Sends the rows batch by batch. `report` is updated as it goes, so that it is correct when the work is cancelled.
 * @param updates true to change the entities with the keys of the rows
 * @throws {RestError} the server refuses a whole batch
 */
export async function sendRows(
  dataClass: DataClass,
  rows: readonly SentRow[],
  { method, updates, report }: { method: 'validate' | 'update'; updates: boolean; report: PasteReport },
  work: WorkControl,
): Promise<void> {
  let doneCount = 0
  for (const batch of batchesOf(rows)) {
    work.signal.throwIfAborted()
    const stamps = updates ? await stampsOf(dataClass, batch, work.signal) : new Map<string, number>()
    const keyName = dataClass.key[0]!.name
    const stampOf = ({ values }: SentRow): number | undefined => stamps.get(keyIn(values, keyName))
    const body = batch.map(row => {
      const __STAMP = stampOf(row)
      return entityOf(row.values, __STAMP === undefined ? undefined : { __KEY: keyIn(row.values, keyName), __STAMP })
    })
    // Not aborted: a batch without an answer may have been saved.
    const answer = await answerTo(dataClass, method, `[${body.join(',')}]`)
    const faults = faultsIn(answer, batch)
    const isUpdate = (at: number): boolean => batch[at] !== undefined && stampOf(batch[at]) !== undefined
    if (method === 'update') report.created.push(...createdIn(answer, isUpdate))
    const failedIndexes = new Set(faults.map(({ index }) => index))
    report.faults.push(...faults)
    for (const { index } of batch) if (!failedIndexes.has(index)) report.good.push(index)
    doneCount += batch.length
    work.report(doneCount / rows.length)
  }
}

/** The answer to a batch, also if some of its rows failed. */
async function answerTo({ name, key }: DataClass, method: string, body: string): Promise<unknown> {
  const parameters = method === 'update' ? { $method: method, $attributes: key[0]?.name } : { $method: method }
  try {
    return await ask(name, parameters, { body })
  } catch (error) {
    if (error instanceof RestError && (error.answer as { __ENTITIES?: unknown } | undefined)?.__ENTITIES)
      return error.answer
    throw error
  }
}

const keyIn = (values: SentRow['values'], keyName: string): string => String(JSON.parse(values.get(keyName) ?? 'null'))

/** Stamps of the existing entities, by key. */
async function stampsOf(
  { name, key }: DataClass,
  batch: readonly SentRow[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const keyName = key[0]!.name
  const keys = batch.flatMap(({ values }): unknown[] => {
    const key: unknown = JSON.parse(values.get(keyName) ?? 'null')
    return key === null ? [] : [key]
  })
  if (keys.length === 0) return new Map()
  const { __ENTITIES } = await ask<{ readonly __ENTITIES: readonly { __KEY: string; __STAMP: number }[] }>(
    `${name}/$query`,
    {},
    {
      body: { $filter: `${keyName} in :1`, $params: [keys], $attributes: keyName, $top: keys.length },
      signal,
    },
  )
  return new Map(__ENTITIES.map(({ __KEY, __STAMP }) => [__KEY, __STAMP]))
}
