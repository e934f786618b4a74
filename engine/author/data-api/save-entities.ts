import { partsOf } from '../../write/body/body-outline.ts'
import type { SavedEntity, SaveFailure } from '../../write/contract/requests.ts'
import { changedFailure } from '../../write/contract/save-failure.ts'
import { BINDING } from './binding.ts'
import type { EntityBase } from './entity.ts'
import { DATABASE_RUNS, EventRun, SHARED_RUNS } from './event-run.ts'
import { internals } from './entity-internals.ts'
import type { Language } from './language.ts'

/** An entity that is to be saved. */
interface Saving {
  readonly entity: EntityBase
  /** Names of attributes that were assigned before its events ran. */
  readonly assigned: readonly string[]
}

/** Outcome of the save of an entity; undefined: it is saved. */
type Outcome = SaveFailure | undefined

/** Saves entities of one dataclass, each separately and in their order. */
export function saveEntities(entities: readonly EntityBase[]): Outcome[] {
  const [first] = entities
  if (!first) return []
  const { language, dataClass } = first[BINDING]
  const { hooks } = language.options
  language.writes.demandWrite()
  let outcomes: ReadonlyMap<EntityBase, Outcome>
  try {
    outcomes = hooks?.runsBeforeSave?.(dataClass)
      ? saveWithEvents(entities, language, hooks.needsTransaction!(dataClass, entities.length))
      : send(entities.filter(isChanged).map(withAssigned), language, dataClass.name)
  } catch (error) {
    for (const entity of entities) hooks?.interrupted?.(entity)
    throw error
  }
  return entities.map(entity => {
    const failure = outcomes.get(entity)
    language.writes.afterCommit(() => language.scope.asEvent(() => hooks?.afterSave?.(entity, failure)))
    return failure
  })
}

function saveWithEvents(
  entities: readonly EntityBase[],
  language: Language,
  needsTransaction: boolean,
): Map<EntityBase, Outcome> {
  const outcomes = new Map<EntityBase, Outcome>()
  let remainingEntities = entities
  let runs = 0
  for (; runs < SHARED_RUNS && !needsTransaction && !language.writes.isInTransaction; runs++) {
    const sharedOutcomes = saveShared(remainingEntities, language)
    if (!sharedOutcomes) break
    for (const [entity, outcome] of sharedOutcomes) outcomes.set(entity, outcome)
    remainingEntities = remainingEntities.filter(entity => !sharedOutcomes.has(entity))
    if (remainingEntities.length === 0) return outcomes
  }
  for (const entity of remainingEntities) outcomes.set(entity, saveAlone(entity, language, runs))
  return outcomes
}

/**
 * Runs events concurrently with other saves.
 * @returns outcomes, except for entities whose events have read something that has changed since; undefined if nothing has been saved
 * because the events need a transaction
 */
function saveShared(entities: readonly EntityBase[], language: Language): Map<EntityBase, Outcome> | undefined {
  const { dataClass } = entities[0]![BINDING]
  const restore = entities.map(internals.keep)
  const run = language.writes.changesOf(dataClass).beside(
    dataClass,
    false,
    () => runShared(entities, restore, language),
    outcomes => outcomes !== undefined && [...outcomes.values()].includes(undefined),
  )
  if (run) return run.result
  undo(entities, restore, language)
  return new Map()
}

function runShared(
  entities: readonly EntityBase[],
  restore: readonly (() => void)[],
  language: Language,
): Map<EntityBase, Outcome> | undefined {
  const { hooks } = language.options
  const { dataClass } = entities[0]![BINDING]
  const run = new EventRun(dataClass)
  const outcomes = new Map<EntityBase, Outcome>()
  const saving: Saving[] = []
  for (const entity of entities) {
    const { assigned } = withAssigned(entity)
    run.entity = entity
    const failure = beforeSave(entity, run, language)
    const mayHaveReadEarlier = entities.length > 1 && language.writes.changesOf(dataClass).hasBegun
    if (run.needsTransaction || run.hasReadEarlier(entity) || mayHaveReadEarlier) {
      hooks!.noteTransaction!(dataClass, run.needsTransaction)
      undo(entities, restore, language)
      return undefined
    }
    if (failure || !isChanged(entity)) outcomes.set(entity, failure)
    else saving.push({ entity, assigned })
  }
  const sentOutcomes = send(saving, language, dataClass.name, run)
  for (const [entity, outcome] of sentOutcomes) outcomes.set(entity, outcome)
  const remainingPositions = entities.flatMap((entity, i) => (outcomes.has(entity) ? [] : [i]))
  undo(
    remainingPositions.map(i => entities[i]!),
    remainingPositions.map(i => restore[i]!),
    language,
  )
  return outcomes
}

/** Runs the events before the save of an entity. */
function beforeSave(entity: EntityBase, run: EventRun, language: Language): Outcome {
  const { hooks } = language.options
  try {
    return language.writes.runEvents(run, () => language.scope.asEvent(() => hooks?.beforeSave?.(entity)))
  } catch (error) {
    if (!run.needsTransaction) throw error
    return undefined
  }
}

/** Restores the values that entities had before their events ran. */
function undo(entities: readonly EntityBase[], restore: readonly (() => void)[], { options }: Language): void {
  for (const [i, entity] of entities.entries()) {
    restore[i]!()
    options.hooks?.interrupted?.(entity)
  }
}

/**
 * Runs the events of an entity in a new transaction, or in the one that is open, where no other client writes.
 * @param runs number of earlier runs
 */
function saveAlone(entity: EntityBase, language: Language, runs: number): Outcome {
  const { dataClass } = entity[BINDING]
  const restore = internals.keep(entity)
  let run: EventRun | undefined
  let outcome: Outcome
  const save = (): boolean => {
    if (run) undo([entity], [restore], language)
    run = new EventRun(dataClass, language.writes.eventRun)
    run.entity = entity
    const { assigned } = withAssigned(entity)
    let isKept = false
    try {
      outcome = beforeSave(entity, run, language)
      if (!outcome && isChanged(entity)) outcome = send([{ entity, assigned }], language, dataClass.name).get(entity)
      isKept = !outcome
    } finally {
      language.writes.endRun(run, isKept)
    }
    return isKept
  }
  if (language.writes.isInTransaction) save()
  else if (language.writes.changesOf(dataClass).alone(dataClass, false, runs, save) === undefined) {
    undo([entity], [restore], language)
    outcome = changedFailure(dataClass, DATABASE_RUNS, entity.getKey())
  }
  // Inside of another run, that run passes them on.
  if (!outcome && run && !run.outer) for (const each of run.later) each()
  return outcome
}

const isChanged = (entity: EntityBase): boolean => entity.isNew() || entity.touched()

// Values that events assign need no permission.
const withAssigned = (entity: EntityBase): Saving => ({ entity, assigned: entity.touchedAttributes() })

/**
 * @param run run of the events of the entities, concurrent with other saves
 * @returns outcomes, except for entities that are {@link SavedEntity.isOutdated}
 */
function send(
  entities: readonly Saving[],
  language: Language,
  dataClass: string,
  run?: EventRun,
): Map<EntityBase, Outcome> {
  const outcomes = new Map<EntityBase, Outcome>()
  if (entities.length === 0) return outcomes
  for (const [i, { rowId, row, failure, isOutdated }] of writeEntities(entities, language, dataClass, run).entries()) {
    if (isOutdated) continue
    const { entity } = entities[i]!
    if (!failure)
      language.writes.changesOf(entity[BINDING].dataClass).afterChange(() => internals.afterSave(entity, rowId!, row!))
    outcomes.set(entity, failure)
  }
  return outcomes
}

function writeEntities(
  entities: readonly Saving[],
  language: Language,
  dataClass: string,
  run: EventRun | undefined,
): readonly SavedEntity[] {
  const { hooks } = language.options
  const saving = entities.map(({ entity, assigned }) => ({
    ...internals.toSave(entity),
    assigned,
    jobs: hooks?.jobsOf?.(entity),
  }))
  const hooked = saving.map(({ expectedStamp, values, assigned, jobs }) => ({
    expectedStamp: expectedStamp,
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
    reads: run?.recorded?.reads,
    moment: run?.moment,
  } as const
  return language.writes.save(request).entities
}
