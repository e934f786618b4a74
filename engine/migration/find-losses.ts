import type { StorageAttribute } from '../catalog/attribute.ts'
import type { Value } from '../catalog/value.ts'
import { describe } from '../write/write-errors.ts'
import { violations } from '../write/validate.ts'
import type { Environment } from '../storage/environment.ts'
import { indexPrefix } from '../storage/keys.ts'
import { convertStored, findByKey } from './convert-stored.ts'
import type { MigrationPlan, TableChange } from './plan-migration.ts'
import type { RowLayout } from '../storage/row-layout.ts'
import { RowView } from '../storage/row-view.ts'
import { readTableState } from '../storage/store-state.ts'
import { tableRows } from '../storage/table-rows.ts'

export interface Losses {
  /** What cannot be done at all. */
  impossible: string[]
  /** What can be done if the operator accepts it. */
  losses: string[]
}

/** One thing that may speak against a migration, asked of every row. */
interface Check {
  readonly isImpossible?: boolean
  /** What is wrong with the row, or undefined. */
  find(row: RowView): string | undefined
  message(count: number, examples: string): string
}

/** Looks through the data for what the new model would lose or does not allow. */
export function findLosses(environment: Environment, plan: MigrationPlan): Losses {
  const result: Losses = { impossible: [], losses: [] }
  for (const { name, tableNumber } of plan.removed) {
    const { rowCount } = readTableState(environment, tableNumber)
    if (rowCount > 0) result.losses.push(`${name} is removed with its ${rowCount} entities`)
  }
  for (const change of plan.changed) {
    const { before, after, oldLayout } = change
    if (readTableState(environment, before.tableNumber).rowCount === 0) continue
    if (before.key.name !== after.key.name || before.key.type !== after.key.type) {
      const [from, to] = [before.key, after.key].map(({ name, type }) => `${name} (${type})`)
      result.impossible.push(
        `${before.name}: its primary key cannot change from ${from} to ${to} while it has entities`,
      )
      continue
    }
    runChecks(environment, oldLayout, checksOf(environment, change), result)
  }
  return result
}

const EXAMPLES = 5

function runChecks(environment: Environment, layout: RowLayout, checks: readonly Check[], result: Losses): void {
  if (checks.length === 0) return
  const found = checks.map(() => ({ count: 0, examples: [] as string[] }))
  for (const { bytes } of tableRows(environment, layout.dataClass.tableNumber)) {
    const row = new RowView(layout, bytes)
    checks.forEach((check, i) => {
      const example = check.find(row)
      if (example === undefined) return
      found[i]!.count++
      if (found[i]!.examples.length < EXAMPLES) found[i]!.examples.push(example)
    })
  }
  checks.forEach((check, i) => {
    const { count, examples } = found[i]!
    if (count === 0) return
    const shown = examples.join(', ') + (count > examples.length ? ', …' : '')
    ;(check.isImpossible ? result.impossible : result.losses).push(check.message(count, shown))
  })
}

function checksOf(environment: Environment, { before, after, kept, removed, newRelations }: TableChange): Check[] {
  const checks: Check[] = []
  const nameOf = (attribute: { name: string }): string => `${after.name}.${attribute.name}`
  for (const attribute of removed) {
    checks.push({
      find: row => (row.value(attribute) === null ? undefined : row.key),
      message: (count, keys) => `${nameOf(attribute)} is removed with its values in ${count} entities (${keys})`,
    })
  }
  for (const { before: old, after: attribute } of kept) {
    if (old.type !== attribute.type || old.simpleDate !== attribute.simpleDate) {
      checks.push({
        find: row => {
          const value = row.value(old)
          return value !== null && convertStored(old, attribute, value) === undefined ? describe(value) : undefined
        },
        message: (count, values) =>
          `${nameOf(attribute)} becomes ${attribute.type}, which ${count} values do not convert to without loss (${values})`,
      })
    }
    if (limitsOf(attribute) !== limitsOf(old)) {
      checks.push({
        find: row => {
          const value = row.value(old)
          const converted = value === null ? null : convertStored(old, attribute, value)
          return converted === undefined ? undefined : violations(attribute, converted as Value)[0]?.message
        },
        message: (count, reasons) =>
          `${nameOf(attribute)} has new limits, which ${count} entities do not keep (${reasons})`,
      })
    }
    if (attribute.unique && (!old.unique || old.type !== attribute.type))
      checks.push(uniqueness(old, attribute, nameOf(attribute)))
  }
  for (const attribute of after.attributes) {
    if (
      attribute.kind !== 'storage' ||
      !attribute.mandatory ||
      before.attributesByName.get(attribute.name)?.kind === 'storage'
    )
      continue
    checks.push({
      find: row => row.key,
      message: (count, keys) =>
        `${nameOf(attribute)} is new and mandatory, but ${count} entities have no value for it (${keys})`,
    })
  }
  for (const relation of newRelations) {
    const source = kept.find(pair => pair.after === relation.foreignKey)
    if (!source) continue
    checks.push({
      find: row => {
        const value = row.value(source.before)
        if (value === null) return undefined
        const key = convertStored(source.before, relation.foreignKey, value)
        return key !== undefined && findByKey(environment, relation.target, key as Value) === undefined
          ? describe(value)
          : undefined
      },
      message: (count, keys) =>
        `${nameOf(relation)} is a new relation, but in ${count} entities ${relation.foreignKey.name} is the key of no ${relation.target.name} (${keys})`,
    })
  }
  return checks
}

const limitsOf = ({ mandatory, minValue, maxValue, minLength, maxLength, pattern }: StorageAttribute): string =>
  JSON.stringify([mandatory, minValue, maxValue, minLength, maxLength, pattern])

/** Which of two equal values should go cannot be decided here, so this is nothing that could be accepted. */
function uniqueness(old: StorageAttribute, attribute: StorageAttribute, name: string): Check {
  const seen = new Set<string>()
  return {
    isImpossible: true,
    find: row => {
      const value = row.value(old)
      const converted = value === null ? undefined : convertStored(old, attribute, value)
      if (converted === undefined) return undefined
      const key = indexPrefix(attribute, converted as Value).toString('latin1')
      if (seen.has(key)) return describe(value)
      seen.add(key)
      return undefined
    },
    message: (count, values) =>
      `${name} becomes unique, but ${count} entities repeat a value of another one (${values})`,
  }
}
