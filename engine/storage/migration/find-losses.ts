import { quantity } from '../../base/counted.ts'
import { fold } from '../../base/text/fold.ts'
import type { StorageAttribute } from '../../catalog/attribute.ts'
import { isSameType, typeName } from '../../catalog/types/parameters.ts'
import { commonValue } from '../../catalog/unique-together.ts'
import type { Value } from '../../catalog/value.ts'
import { describeValue } from '../../write/value/convert.ts'
import { violations } from '../../write/value/validate.ts'
import type { Environment } from '../environment.ts'
import { indexPrefix } from '../keys.ts'
import { convertStored, findByKey } from './convert-stored.ts'
import type { Progress } from '../../base/progress.ts'
import type { MigrationPlan, TableChange } from './plan-migration.ts'
import { isCut } from '../../row-format/index-key.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { RowView } from '../../row-format/row-view.ts'
import { readTableState } from '../store-state.ts'
import { tableRows } from '../table-rows.ts'

interface Losses {
  /** Changes that cannot be made at all. */
  impossible: string[]
  /** Changes that can be made if the operator accepts them. */
  losses: string[]
}

/** A check of every row that may prevent a migration. */
interface Check {
  readonly isImpossible?: boolean
  /** Fault of the row, or undefined. */
  find(row: RowView): string | undefined
  message(count: number, examples: string): string
}

/** Searches the data for values that the new model would lose or does not allow. */
export function findLosses(environment: Environment, plan: MigrationPlan, onProgress?: Progress): Losses {
  const result: Losses = { impossible: [], losses: [] }
  for (const { name, tableNumber } of plan.removedClasses) {
    const { rowCount } = readTableState(environment, tableNumber)
    if (rowCount > 0) result.losses.push(`${name} is removed with its ${entities(rowCount)}`)
  }
  for (const change of plan.changes) {
    const { before, after, oldLayout } = change
    if (readTableState(environment, before.tableNumber).rowCount === 0) continue
    if (before.place.isStore && !after.place.isStore) {
      const { rowCount } = readTableState(environment, before.tableNumber)
      result.impossible.push(
        `${before.name}: its ${entities(rowCount)} in the store could no longer be reached: the model has them in a database or another back end`,
      )
      continue
    }
    if (before.key.position !== after.key.position || !isSameType(before.key, after.key)) {
      const [from, to] = [before.key, after.key].map(key => `${key.name} (${typeName(key)})`)
      result.impossible.push(
        `${before.name}: its primary key cannot change from ${from} to ${to} while it has entities`,
      )
      continue
    }
    runChecks(environment, oldLayout, checksOf(environment, change), result, onProgress)
  }
  return result
}

const entities = (count: number): string => quantity(count, 'entity', 'entities')

const EXAMPLES = 5
const PROGRESS_ROWS = 5_000

function runChecks(
  environment: Environment,
  layout: RowLayout,
  checks: readonly Check[],
  result: Losses,
  onProgress: Progress = () => {},
): void {
  if (checks.length === 0) return
  const { name, tableNumber } = layout.dataClass
  const total = readTableState(environment, tableNumber).rowCount
  let done = 0
  const findings = checks.map(() => ({ count: 0, examples: [] as string[] }))
  for (const { bytes } of tableRows(environment, tableNumber)) {
    const row = new RowView(layout, bytes)
    checks.forEach((check, i) => {
      const example = check.find(row)
      if (example === undefined) return
      findings[i]!.count++
      if (findings[i]!.examples.length < EXAMPLES) findings[i]!.examples.push(example)
    })
    if (++done % PROGRESS_ROWS === 0) onProgress({ dataClass: name, what: 'check', done, total })
  }
  checks.forEach((check, i) => {
    const { count, examples } = findings[i]!
    if (count === 0) return
    const exampleText = examples.join(', ') + (count > examples.length ? ', …' : '')
    ;(check.isImpossible ? result.impossible : result.losses).push(check.message(count, exampleText))
  })
}

function checksOf(environment: Environment, change: TableChange): Check[] {
  const { after, keptPairs, filled, removedAttributes, newRelations } = change
  const checks: Check[] = []
  const nameOf = (attribute: { name: string }): string => `${after.name}.${attribute.name}`
  for (const attribute of removedAttributes) {
    checks.push({
      find: row => (row.value(attribute) === null ? undefined : row.key),
      message: (count, keys) => `${nameOf(attribute)} is removed with its values in ${entities(count)} (${keys})`,
    })
  }
  for (const { before: old, after: attribute } of keptPairs) {
    if (!isSameType(old, attribute)) {
      checks.push({
        find: row => {
          const value = row.value(old)
          return value !== null && convertStored(old, attribute, value) === undefined
            ? describeValue(old, value as Value)
            : undefined
        },
        message: (count, values) =>
          `${nameOf(attribute)} becomes ${typeName(attribute)}, to which ${quantity(count, 'value')} cannot be converted without loss (${values})`,
      })
    }
    if (limitsOf(attribute) !== limitsOf(old)) {
      checks.push({
        find: row => {
          const value = row.value(old)
          const convertedValue = value === null ? null : convertStored(old, attribute, value)
          return convertedValue === undefined ? undefined : violations(attribute, convertedValue as Value)[0]?.message
        },
        message: (count, reasons) =>
          `${nameOf(attribute)} has new limits, which do not hold in ${entities(count)} (${reasons})`,
      })
    }
    if (attribute.unique && (!old.unique || old.type !== attribute.type))
      checks.push(uniqueness(old, attribute, nameOf(attribute)))
  }
  for (const index of after.uniqueTogether)
    if (change.buildIndexes.includes(index)) checks.push(togetherCheck(index, change))
  for (const attribute of after.attributes) {
    if (
      attribute.kind !== 'storage' ||
      !attribute.mandatory ||
      filled.includes(attribute) ||
      keptPairs.some(pair => pair.after === attribute)
    )
      continue
    checks.push({
      find: row => row.key,
      message: (count, keys) =>
        `${nameOf(attribute)} is new and mandatory, but has neither a default nor a value in ${entities(count)} (${keys})`,
    })
  }
  for (const relation of newRelations) {
    const { foreignKey, target } = relation
    const source = keptPairs.find(pair => pair.after === foreignKey)
    const isFilled = filled.includes(foreignKey)
    if (!(source || isFilled) || !target.place.isStore) continue
    checks.push({
      find: row => {
        const value = source ? row.value(source.before) : foreignKey.default!
        if (value === null) return undefined
        const key = source ? convertStored(source.before, foreignKey, value) : foreignKey.default
        return key !== undefined && findByKey(environment, target, key as Value) === undefined
          ? describeValue(source?.before ?? foreignKey, value as Value)
          : undefined
      },
      message: (count, keys) =>
        `${nameOf(relation)} is a new relation, but in ${entities(count)} ${foreignKey.name} is the key of no ${relation.target.name} (${keys})`,
    })
  }
  return checks
}

const limitsOf = ({
  mandatory,
  minValue,
  maxValue,
  minLength,
  maxLength,
  pattern,
  choices,
}: StorageAttribute): string => JSON.stringify([mandatory, minValue, maxValue, minLength, maxLength, pattern, choices])

/** Check for a unique attribute. Always impossible: which of two equal values to drop cannot be decided here. */
function uniqueness(old: StorageAttribute, attribute: StorageAttribute, name: string): Check {
  const seenKeys = new Set<string>()
  return {
    isImpossible: true,
    find: row => {
      const value = row.value(old)
      const convertedValue = value === null ? undefined : convertStored(old, attribute, value)
      if (convertedValue === undefined) return undefined
      const key = comparedKey(attribute, convertedValue as Value)
      if (seenKeys.has(key)) return describeValue(old, value as Value)
      seenKeys.add(key)
      return undefined
    },
    message: (count, values) =>
      `${name} becomes unique, but a value of another one is in ${entities(count)} (${values})`,
  }
}

/** A text that is equal for two values exactly if they are equal, also where the index holds only the beginning of both. */
function comparedKey(attribute: StorageAttribute, value: Value): string {
  const prefix = indexPrefix(attribute, value).toString('latin1')
  const foldedText = typeof value === 'string' ? fold(value) : ''
  return isCut(foldedText) ? prefix + foldedText : prefix
}

/** Check for attributes that are unique together. Always impossible, as for one attribute. */
function togetherCheck(index: StorageAttribute, { after, keptPairs, filled }: TableChange): Check {
  const members = index.together!
  const sources = new Map(keptPairs.map(pair => [pair.after, pair.before]))
  const seenValues = new Set<string>()
  return {
    isImpossible: true,
    find: row => {
      const values = members.map(member => {
        if (filled.includes(member)) return member.default!
        const source = sources.get(member)
        const value = source ? row.value(source) : null
        return value === null ? null : ((convertStored(source!, member, value) ?? null) as Value)
      })
      const common = commonValue(members, member => values[members.indexOf(member)]!)
      if (common === null || !seenValues.has(common)) {
        if (common !== null) seenValues.add(common)
        return undefined
      }
      return members.map((member, i) => describeValue(member, values[i]!)).join(' and ')
    },
    message: (count, values) =>
      `${members.map(({ name }) => `${after.name}.${name}`).join(' and ')} become unique together, but values of another one are in ${entities(count)} (${values})`,
  }
}
