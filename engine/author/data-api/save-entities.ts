import type { DataClass } from '../../catalog/dataclass.ts'
import { partsOf } from '../../write/body/body-outline.ts'
import type { SavedEntity, SaveFailure } from '../../write/contract/requests.ts'
import { changedFailure } from '../../write/contract/save-failure.ts'
import { WriteErrors } from '../../write/contract/write-errors.ts'
import { BINDING } from './binding.ts'
import type { EntityBase } from './entity.ts'
import { DATABASE_RUNS, EventRun, SHARED_RUNS } from './event-run.ts'
import { internals } from './entity-internals.ts'
import type { CodeSession } from './code-session.ts'

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
  const { codeSession, dataClass } = first[BINDING]
  const { hooks } = codeSession.options
  codeSession.writes.demandWrite()
  let outcomes: ReadonlyMap<EntityBase, Outcome>
  try {
    outcomes = hooks?.runsBeforeSave?.(dataClass)
      ? saveWithEvents(entities, codeSession, hooks.needsTransaction!(dataClass, entities.length))
      : send(entities.filter(isChanged).map(withAssigned), codeSession, dataClass.name)
  } catch (error) {
    for (const entity of entities) hooks?.interrupted?.(entity)
    throw error
  }
  return entities.map(entity => {
    const failure = outcomes.get(entity)
    codeSession.writes.afterCommit(() => codeSession.scope.asEvent(() => hooks?.afterSave?.(entity, failure)))
    return failure
  })
}

function saveWithEvents(
  entities: readonly EntityBase[],
  codeSession: CodeSession,
  needsTransaction: boolean,
): Map<EntityBase, Outcome> {
  const outcomes = new Map<EntityBase, Outcome>()
  let remainingEntities = entities
  let runs = 0
  for (; runs < SHARED_RUNS && !needsTransaction && !codeSession.writes.isInTransaction; runs++) {
    const sharedOutcomes = saveShared(remainingEntities, codeSession)
    if (!sharedOutcomes) break
    for (const [entity, outcome] of sharedOutcomes) outcomes.set(entity, outcome)
    remainingEntities = remainingEntities.filter(entity => !sharedOutcomes.has(entity))
    if (remainingEntities.length === 0) return outcomes
  }
  for (const entity of remainingEntities) outcomes.set(entity, saveAlone(entity, codeSession, runs))
  return outcomes
}

/**
 * Runs events concurrently with other saves.
 * @returns outcomes, except for entities whose events have read something that has changed since; undefined if nothing has been saved
 * because the events need a transaction
 */
function saveShared(entities: readonly EntityBase[], codeSession: CodeSession): Map<EntityBase, Outcome> | undefined {
  const { dataClass } = entities[0]![BINDING]
  const restore = entities.map(internals.keep)
  const run = codeSession.writes.changesOf(dataClass).beside(
    dataClass,
    false,
    () => runShared(entities, restore, codeSession),
    outcomes => outcomes !== undefined && [...outcomes.values()].includes(undefined),
  )
  if (run) return run.result
  undo(entities, restore, codeSession)
  return new Map()
}

function runShared(
  entities: readonly EntityBase[],
  restore: readonly (() => void)[],
  codeSession: CodeSession,
): Map<EntityBase, Outcome> | undefined {
  const { hooks } = codeSession.options
  const { dataClass } = entities[0]![BINDING]
  const run = new EventRun(dataClass)
  const outcomes = new Map<EntityBase, Outcome>()
  const saving: Saving[] = []
  for (const entity of entities) {
    const { assigned } = withAssigned(entity)
    run.entity = entity
    const failure = beforeSave(entity, run, codeSession)
    const mayHaveReadEarlier = entities.length > 1 && codeSession.writes.changesOf(dataClass).hasBegun
    if (run.needsTransaction || run.hasReadEarlier(entity) || mayHaveReadEarlier) {
      hooks!.noteTransaction!(dataClass, run.needsTransaction)
      undo(entities, restore, codeSession)
      return undefined
    }
    if (failure || !isChanged(entity)) outcomes.set(entity, failure)
    else saving.push({ entity, assigned })
  }
  const sentOutcomes = send(saving, codeSession, dataClass.name, run)
  for (const [entity, outcome] of sentOutcomes) outcomes.set(entity, outcome)
  const remainingPositions = entities.flatMap((entity, i) => (outcomes.has(entity) ? [] : [i]))
  undo(
    remainingPositions.map(i => entities[i]!),
    remainingPositions.map(i => restore[i]!),
    codeSession,
  )
  return outcomes
}

/** Runs the events before the save of an entity. */
function beforeSave(entity: EntityBase, run: EventRun, codeSession: CodeSession): Outcome {
  const { hooks } = codeSession.options
  try {
    return codeSession.writes.runEvents(run, () => codeSession.scope.asEvent(() => hooks?.beforeSave?.(entity)))
  } catch (error) {
    if (!run.needsTransaction) throw error
    return undefined
  }
}

/** Restores the values that entities had before their events ran. */
function undo(entities: readonly EntityBase[], restore: readonly (() => void)[], { options }: CodeSession): void {
  for (const [i, entity] of entities.entries()) {
    restore[i]!()
    options.hooks?.interrupted?.(entity)
  }
}

/**
 * Runs the events of an entity in a new transaction, or in the one that is open, where no other client writes.
 * @param runs number of earlier runs
 */
function saveAlone(entity: EntityBase, codeSession: CodeSession, runs: number): Outcome {
  const { dataClass } = entity[BINDING]
  const restore = internals.keep(entity)
  let run: EventRun | undefined
  let outcome: Outcome
  const save = (): boolean => {
    if (run) undo([entity], [restore], codeSession)
    run = new EventRun(dataClass, codeSession.writes.eventRun)
    run.entity = entity
    const { assigned } = withAssigned(entity)
    let isKept = false
    try {
      outcome = beforeSave(entity, run, codeSession)
      if (!outcome && isChanged(entity)) outcome = send([{ entity, assigned }], codeSession, dataClass.name).get(entity)
      isKept = !outcome
    } finally {
      codeSession.writes.endRun(run, isKept)
    }
    return isKept
  }
  if (codeSession.writes.isInTransaction) save()
  else if (codeSession.writes.changesOf(dataClass).alone(dataClass, false, runs, save) === undefined) {
    undo([entity], [restore], codeSession)
    outcome = changedFailure(dataClass, DATABASE_RUNS, entity.getKey())
  }
  // Inside another run, the outer run passes them on.
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
  codeSession: CodeSession,
  dataClass: string,
  run?: EventRun,
): Map<EntityBase, Outcome> {
  const outcomes = new Map<EntityBase, Outcome>()
  if (entities.length === 0) return outcomes
  for (const [i, { rowId, row, failure, isOutdated }] of writeEntities(
    entities,
    codeSession,
    dataClass,
    run,
  ).entries()) {
    if (isOutdated) continue
    const { entity } = entities[i]!
    if (!failure)
      codeSession.writes
        .changesOf(entity[BINDING].dataClass)
        .afterChange(() => internals.afterSave(entity, rowId!, row!))
    outcomes.set(entity, failure && withoutPrivate(failure, entity[BINDING].dataClass))
  }
  return outcomes
}

/**
 * A failure without names and values of private attributes: code usually answers its client with the error or the status of a save. A
 * private dataclass has only private names.
 */
function withoutPrivate(failure: SaveFailure, { name, scope, key, attributesByName }: DataClass): SaveFailure {
  if (scope === 'private') return failure
  const entries = failure.error.entries.map(entry => {
    const attribute = attributesByName.get(entry.attribute ?? '')
    return attribute?.scope === 'private' && attribute !== key ? WriteErrors.HIDDEN(name).toData().entries[0]! : entry
  })
  return { ...failure, error: { ...failure.error, entries } }
}

function writeEntities(
  entities: readonly Saving[],
  codeSession: CodeSession,
  dataClass: string,
  run: EventRun | undefined,
): readonly SavedEntity[] {
  const { hooks } = codeSession.options
  const saving = entities.map(({ entity, assigned }) => ({
    ...internals.toSave(entity),
    assigned,
    jobs: hooks?.jobsOf?.(entity),
  }))
  const preparedElements = saving.map(({ expectedStamp, values, assigned, jobs }) => ({
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
    hooked: preparedElements,
    reads: run?.recorded?.reads,
    moment: run?.moment,
  } as const
  return codeSession.writes.save(request).entities
}
