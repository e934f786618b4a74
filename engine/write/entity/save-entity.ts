import { isBinary, type StorageAttribute } from '../../catalog/attribute.ts'
import type { BinaryValue, Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { keyText } from '../../row-format/row-layout.ts'
import { enqueueJobs } from '../../jobs/enqueue-jobs.ts'
import { PermissionErrors } from '../../permission/permission-errors.ts'
import { automaticValue } from '../value/automatic-value.ts'
import { convertKey, convertValue, describeValue } from '../value/convert.ts'
import { EntityChange, type SaveContext } from './entity-change.ts'
import { isExpected } from '../contract/expected-version.ts'
import { changeRelations, linkForeignKeys } from './link-relations.ts'
import { duplicateTogether } from './duplicate-together.ts'
import { isJsonObject, ownMember } from '../../base/json-object.ts'
import { readElement } from './read-element.ts'
import { type PreparedElement, type SavedEntity, type SaveFailure, UNSEEN } from '../contract/requests.ts'
import { hasLimits, violations } from '../value/validate.ts'
import { RefusedChange } from '../../data/refused-change.ts'
import { lockStatus, notFound, notSaved, saveFailure } from '../contract/save-failure.ts'
import { describe, WriteErrors } from '../contract/write-errors.ts'

/**
 * Saves one element of a body. Everything is checked before the first put, so a failure changes nothing; all problems of the entity are
 * reported together.
 * @param preparedElement result of plugin code for the element; its failure takes precedence over a stale stamp Source: base specification 4.4 and
 * 7; protocol notes 5.1, 5.2 and 9.
 */
export function saveEntity(context: SaveContext, element: unknown, preparedElement?: PreparedElement): SavedEntity {
  const { dataClass, transaction, view } = context
  if (!isJsonObject(element)) {
    return { failure: saveFailure([WriteErrors.NOT_AN_ENTITY(describe(element))], notSaved(dataClass, null)) }
  }
  const sentKey = ownMember(element, '__KEY') ?? null
  if (sentKey === null) {
    const failure = createFailure(context, preparedElement)
    return failure ? { failure } : save(new EntityChange(context, undefined), element, preparedElement)
  }

  const key = convertKey(dataClass, sentKey)
  const exists = !(key instanceof ProtocolError) && view.shows(dataClass) && preparedElement?.expectedStamp !== UNSEEN
  const rowId = exists ? transaction.findKey(dataClass, key) : undefined
  if (rowId === undefined) return { failure: preparedElement?.failure ?? notFound(sentKey, dataClass) }
  const row = transaction.row(dataClass, rowId)!
  const failure = updateFailure(context, rowId, sentKey, preparedElement)
  if (failure) return { row: row.bytes, rowId, failure }
  const { anyStamp, ifMatch } = context
  const sentStamp = ownMember(element, '__STAMP')
  const isNamed = isExpected(ifMatch, row)
  const needsStamp = !anyStamp && (sentStamp !== undefined || ifMatch === undefined || ifMatch === 'any')
  const isCurrent = !needsStamp || stampOf(sentStamp) === row.stamp
  const isSeen = (preparedElement?.expectedStamp ?? row.stamp) === row.stamp
  if (isNamed && isCurrent && !isSeen && transaction.rerunsEvents) return OUTDATED
  if (isNamed && isCurrent && isSeen) return save(new EntityChange(context, { rowId, row }), element, preparedElement)
  const keyText = describe(sentKey)
  const stampText = sentStamp === undefined ? 'none' : describe(sentStamp)
  const problem = isNamed
    ? WriteErrors.STALE_STAMP(keyText, dataClass.name, stampText, row.stamp)
    : WriteErrors.OTHER_VERSION(keyText, dataClass.name, row.stamp)
  const problems = [problem, WriteErrors.RECORD_NOT_SAVED(keyText, dataClass.name)]
  return { row: row.bytes, rowId, failure: saveFailure(problems, notSaved(dataClass, sentKey)) }
}

/** Failure of a new entity that is found before its values are read. */
function createFailure(
  { dataClass, view, ifMatch }: SaveContext,
  preparedElement?: PreparedElement,
): SaveFailure | undefined {
  if (!view.may('create', dataClass))
    return saveFailure([PermissionErrors.CREATE(dataClass.name)], notSaved(dataClass, null))
  if (preparedElement?.failure) return preparedElement.failure
  return ifMatch && saveFailure([WriteErrors.NO_VERSION(dataClass.name)], notSaved(dataClass, null))
}

/** Failure of an existing entity, whatever its version. */
function updateFailure(
  { dataClass, view, locks, owner }: SaveContext,
  rowId: number,
  sentKey: unknown,
  preparedElement?: PreparedElement,
): SaveFailure | undefined {
  if (!view.may('update', dataClass))
    return saveFailure([PermissionErrors.UPDATE(dataClass.name)], notSaved(dataClass, sentKey))
  if (preparedElement?.failure) return preparedElement.failure
  const blocker = locks.blocker(dataClass, rowId, owner)
  if (!blocker) return undefined
  const problem = WriteErrors.LOCKED(describe(sentKey), dataClass.name)
  return { ...saveFailure([problem], notSaved(dataClass, sentKey)), status: lockStatus(blocker.info) }
}

/** Result for an entity whose code has to run again. */
export const OUTDATED: SavedEntity = { isOutdated: true }

/** Sent stamp as a number; NaN for objects and arrays, because converting nested arrays to text recurses. */
const stampOf = (json: unknown): number => (typeof json === 'object' || json === undefined ? Number.NaN : Number(json))

function save(
  change: EntityChange,
  element: Record<string, unknown>,
  preparedElement: PreparedElement | undefined,
): SavedEntity {
  const { old, values, problems } = change
  readElement(change, element, preparedElement)
  changeRelations(change)
  if (!old) fill(change)
  linkForeignKeys(change)
  check(change)
  if (problems.length > 0) return describeFailure(change)
  let savedEntity: SavedEntity
  try {
    savedEntity = old && values.attributes.length === 0 ? { row: old.row.bytes, rowId: old.rowId } : put(change)
  } catch (error) {
    if (!(error instanceof RefusedChange)) throw error
    problems.push(...error.problems)
    return describeFailure(change)
  }
  if (preparedElement?.jobs) enqueue(change, preparedElement.jobs)
  return savedEntity
}

/** Enqueues the jobs of a saved entity. */
function enqueue({ context, old, values }: EntityChange, jobs: NonNullable<PreparedElement['jobs']>): void {
  const { transaction, dataClass, timestamp, mode } = context
  if (mode !== 'update') return
  const key = old ? old.row.key : keyText(transaction.layout(dataClass), values.get(dataClass.key)!)
  enqueueJobs(context, jobs, Date.parse(timestamp), key)
}

/** Fills the defaults and the automatic values of a new entity, whatever the rights of the caller. */
function fill(change: EntityChange): void {
  const { dataClass, rules, transaction } = change.context
  for (const attribute of rules.defaulted) {
    if (change.values.get(attribute) === undefined && !change.isBroken(attribute))
      change.fill(attribute, attribute.default!)
  }
  for (const attribute of rules.autoFilled) {
    if ((change.values.get(attribute) ?? null) !== null || change.isBroken(attribute)) continue
    if (attribute.autoFill !== 'increment') {
      const value = automaticValue(attribute, change.context)
      if (value !== null) change.fill(attribute, value)
      continue
    }
    const { nextAutoIncrement } = transaction.state(dataClass)
    const next = convertValue(attribute, nextAutoIncrement, false)
    if (next instanceof ProtocolError)
      change.reject(attribute, WriteErrors.AUTO_INCREMENT_EXHAUSTED(attribute.name, nextAutoIncrement))
    else change.values.set(attribute, next)
  }
}

/** Checks values against the model; for a new entity all attributes with limits, sent or not. */
function check(change: EntityChange): void {
  const { dataClass, rules } = change.context
  for (const attribute of change.old ? change.values.attributes : rules.limited) {
    if (attribute.kind !== 'storage' || !hasLimits(attribute) || change.isBroken(attribute)) continue
    const value = change.values.get(attribute) ?? null
    const isKey = attribute === dataClass.key
    if (isKey && value === null) {
      change.problems.push(WriteErrors.KEY_MISSING(attribute.name))
      continue
    }
    const problems = violations(attribute, value)
    if (attribute.unique && value !== null && problems.length === 0)
      problems.push(...duplicates(change, attribute, value))
    if (problems.length === 0) continue
    change.problems.push(...(change.isNamed(attribute) ? problems : [WriteErrors.HIDDEN(dataClass.name)]))
  }
  for (const index of dataClass.uniqueTogether) checkTogether(change, index)
}

/** Checks attributes that are unique together. */
function checkTogether(change: EntityChange, index: StorageAttribute): void {
  const { context, old, problems, values } = change
  const members = index.together!
  if (members.some(member => change.isBroken(member))) return
  const duplicate = duplicateTogether(context.transaction, index, values, old)
  if (duplicate === undefined) return
  const isNamed = members.every(member => context.view.shows(member))
  problems.push(
    isNamed ? WriteErrors.DUPLICATE_TOGETHER(members[0]!.name, duplicate) : WriteErrors.HIDDEN(context.dataClass.name),
  )
}

function duplicates({ context, old }: EntityChange, attribute: StorageAttribute, value: Value): ProtocolError[] {
  const { dataClass, transaction } = context
  const holder = transaction.holder(attribute, value)
  if (holder === undefined || holder === old?.rowId) return []
  const valueText = describeValue(attribute, value)
  const problem = WriteErrors.DUPLICATE(attribute.name, valueText)
  return attribute === dataClass.key ? [problem, WriteErrors.KEY_EXISTS(valueText, dataClass.name)] : [problem]
}

function describeFailure(change: EntityChange): SavedEntity {
  const { old, further } = change
  const { dataClass, maxProblems } = change.context
  const problems = change.problems.slice(0, maxProblems)
  const more = change.problems.length - problems.length + further
  if (more > 0) problems.push(WriteErrors.MORE_PROBLEMS(more))
  if (!old) return { failure: saveFailure(problems, notSaved(dataClass, null)) }
  const key = describeValue(dataClass.key, change.storedValue(dataClass.key))
  const failure = saveFailure(problems, WriteErrors.ENTITY_NOT_SAVED(key, dataClass.name))
  return { row: old.row.bytes, rowId: old.rowId, failure }
}

function put({ context, old, values, references }: EntityChange): SavedEntity {
  const { dataClass, transaction, mode, timestamp } = context
  const state = transaction.state(dataClass)
  const rowId = old?.rowId ?? transaction.newRowId(dataClass)
  for (const attribute of values.attributes) {
    if (attribute.kind !== 'storage') continue
    const value = values.get(attribute)!
    if (isBinary(attribute.type)) transaction.putBinary(attribute, rowId, value as BinaryValue | null)
    if (attribute.autoFill === 'increment' && typeof value === 'number' && value >= state.nextAutoIncrement) {
      state.nextAutoIncrement = value + 1
    }
  }
  for (const relation of transaction.layout(dataClass).references) {
    const key = values.get(relation.foreignKey)
    if (key !== undefined) values.set(relation, key === null ? null : keyText(transaction.layout(relation.target), key))
  }
  const isPreview = mode !== 'update'
  const stamp = (old?.row.stamp ?? 0) + (isPreview ? 0 : 1)
  const entity = { stamp, values, references }
  const row = old
    ? transaction.update(dataClass, old, entity, timestamp)
    : transaction.insert(dataClass, rowId, entity, timestamp)
  return isPreview && !old ? { row } : { row, rowId }
}
