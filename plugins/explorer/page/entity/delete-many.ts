/** Deletes many entities in batches, so that the deletion can be followed and cancelled. */
import type { Chosen } from '../base/chosen.ts'
import type { DataClass } from '../base/catalog.ts'
import { entitiesPath, entityPath, entitySetPath } from '../base/paths.ts'
import { ask, RestError } from '../base/rest.ts'
import type { WorkControl } from '../base/work.ts'
import type { Entity } from './load-entity.ts'

/** Maximum number of keys of a request, which are part of its address. */
const KEYS_AT_ONCE = 50
const PAGE = 1_000

interface NotDeleted {
  readonly key: string
  readonly error: RestError
}

export interface DeleteReport {
  count: number
  readonly failures: NotDeleted[]
}

/** Deletes as many entities as possible. `report` is updated as it goes, so that it is correct when the work is cancelled. */
export async function deleteMany(
  dataClass: DataClass,
  keys: AsyncIterable<readonly string[]>,
  count: number,
  report: DeleteReport,
  work: WorkControl,
): Promise<void> {
  for await (const some of keys) {
    for (let from = 0; from < some.length; from += KEYS_AT_ONCE) {
      work.signal.throwIfAborted()
      await deleteSome(dataClass, some.slice(from, from + KEYS_AT_ONCE), report)
      work.report((report.count + report.failures.length) / Math.max(1, count))
    }
  }
}

/** Deletes some entities. A request that fails has deleted as many as it could: the remaining ones are deleted one by one. */
async function deleteSome(dataClass: DataClass, keys: readonly string[], report: DeleteReport): Promise<void> {
  const { name } = dataClass
  try {
    await ask(entitiesPath(name, keys), { $method: 'delete' }, { method: 'POST' })
    report.count += keys.length
    return
  } catch (error) {
    if (!(error instanceof RestError)) throw error
  }
  const keyName = dataClass.key[0]?.name
  const body = { $filter: `${keyName} in :1`, $params: [keys], $attributes: keyName, $top: keys.length }
  const { __ENTITIES: remainingEntities } = await ask<{ readonly __ENTITIES: readonly Entity[] }>(
    `${name}/$query`,
    {},
    { body },
  )
  report.count += keys.length - remainingEntities.length
  for (const { __KEY } of remainingEntities) {
    try {
      await ask(entityPath(name, __KEY), { $method: 'delete' }, { method: 'POST' })
      report.count++
    } catch (error) {
      if (!(error instanceof RestError)) throw error
      report.failures.push({ key: __KEY, error })
    }
  }
}

/**
 * Keys of the chosen entities. The keys of a whole selection are read from its entity set, in which deleted entities keep their positions.
 */
export async function* keysOf(
  dataClass: DataClass,
  { isAll, keys }: Chosen,
  set: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly string[]> {
  if (!isAll) {
    yield [...keys]
    return
  }
  for (let skip = 0; ; skip += PAGE) {
    const { __ENTITIES } = await ask<{ readonly __ENTITIES: readonly Partial<Entity>[] }>(
      entitySetPath(dataClass.name, set!),
      { $attributes: dataClass.key[0]?.name, $skip: skip, $top: PAGE },
      { signal },
    )
    yield __ENTITIES.flatMap(({ __KEY }) => (__KEY === undefined || keys.has(__KEY) ? [] : [__KEY]))
    if (__ENTITIES.length < PAGE) return
  }
}
