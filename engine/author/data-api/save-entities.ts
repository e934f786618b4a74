import { partsOf } from '../../write/body-outline.ts'
import type { SavedEntity, SaveFailure } from '../../write/contract/requests.ts'
import type { Status } from '../declare/author-types.ts'
import { BINDING } from './binding.ts'
import type { EntityBase } from './entity.ts'
import { internals } from './entity-internals.ts'
import type { Language } from './language.ts'
import { statusOf, success } from './status.ts'

/** An entity that is to be saved. */
interface Saving {
  readonly entity: EntityBase
  /** Names of attributes that were assigned before its events ran. */
  readonly assigned: readonly string[]
}

/**
 * Saves entities of one dataclass, each separately, in one request to the writer.
 * @returns a status for each
 */
export function saveEntities(entities: readonly EntityBase[]): Status[] {
  const [first] = entities
  if (!first) return []
  const { language, dataClass } = first[BINDING]
  const { hooks } = language.options
  const failures = savedWithEvents(entities, language, dataClass.name)
  return entities.map((entity, i) => {
    const failure = failures[i]
    language.withOwnRights(() => hooks?.afterSave?.(entity, failure))
    return failure ? { ...statusOf(failure.error), ...failure.status } : success()
  })
}

/** @returns the failure of each entity; undefined: saved */
function savedWithEvents(
  entities: readonly EntityBase[],
  language: Language,
  dataClass: string,
): (SaveFailure | undefined)[] {
  const { hooks } = language.options
  // Values that events assign need no permission.
  const saving = entities.map(entity => ({ entity, assigned: entity.touchedAttributes() }))
  try {
    const failures = entities.map(entity => language.withOwnRights(() => hooks?.beforeSave?.(entity)))
    const waiting = saving.filter(({ entity }, i) => !failures[i] && !isUnchanged(entity))
    const results = waiting.length > 0 ? send(language, dataClass, waiting) : []
    for (const [i, { rowId, row, failure }] of results.entries()) {
      const { entity } = waiting[i]!
      if (failure) failures[entities.indexOf(entity)] = failure
      else internals.saved(entity, rowId!, row!)
    }
    return failures
  } catch (error) {
    for (const entity of entities) hooks?.interrupted?.(entity)
    throw error
  }
}

const isUnchanged = (entity: EntityBase): boolean => !entity.isNew() && !entity.touched()

function send(language: Language, dataClass: string, entities: readonly Saving[]): readonly SavedEntity[] {
  const { hooks } = language.options
  const saving = entities.map(({ entity, assigned }) => ({
    ...internals.toSave(entity),
    assigned,
    jobs: hooks?.jobsOf?.(entity),
  }))
  const hooked = saving.map(({ seen, values, assigned, jobs }) => ({
    expectedStamp: seen,
    values,
    assigned,
    unchanged: [],
    ...(jobs && { jobs }),
  }))
  const body = Buffer.from(JSON.stringify(saving.map(({ element }) => element)))
  const parts = partsOf(body)
  const request = {
    dataClass,
    body,
    ...(parts && { parts }),
    mode: 'update',
    atomic: false,
    trusted: true,
    hooked,
  } as const
  return language.save(request).entities
}
