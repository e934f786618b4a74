import { quantity } from '../../base/counted.ts'
import type { Attribute } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { typeName } from '../../catalog/types/parameters.ts'
import type { Environment } from '../environment.ts'
import { readTableState } from '../store-state.ts'
import type { PlannedChange, TableChange } from './plan-migration.ts'

/**
 * Microseconds for each entity, for a rough estimate: twice the CPU of small entities (22 to rewrite one, 5 for an index), as
 * larger ones and the disk take more.
 */
const REWRITE_US = 45
const INDEX_US = 10

/** Describes the steps of a change of a store, a sentence each. Reads no rows. */
export function describeChange(environment: Environment, plannedChange: PlannedChange): string[] {
  const rowsOf = ({ tableNumber }: DataClass): number => readTableState(environment, tableNumber).rowCount
  return [
    ...plannedChange.addedClasses.map(({ name }) => `${name} is added`),
    ...plannedChange.plan.removedClasses.map(
      each => `${each.name} is removed with its ${quantity(rowsOf(each), 'entity', 'entities')}`,
    ),
    ...plannedChange.plan.changes.flatMap(each => describeTable(each, rowsOf(each.before))),
  ]
}

function describeTable(change: TableChange, rows: number): string[] {
  const { before, after, oldLayout, newLayout, buildIndexes } = change
  const lines = before.name === after.name ? [] : [`${before.name} is renamed to ${after.name}`]
  const entities = quantity(rows, 'entity', 'entities')
  const predecessors = byPosition(before)
  const successors = byPosition(after)
  for (const [position, attribute] of successors) {
    const name = `${after.name}.${attribute.name}`
    const old = predecessors.get(position)
    if (!old) lines.push(`${name} is added`)
    else {
      if (old.name !== attribute.name) lines.push(`${before.name}.${old.name} is renamed to ${name}`)
      const [from, to] = [typeOf(old), typeOf(attribute)]
      if (from !== to) lines.push(`${name} is converted from ${from} to ${to}`)
    }
  }
  for (const [position, { name }] of predecessors) {
    if (!successors.has(position)) lines.push(`${before.name}.${name} is removed`)
  }
  if (oldLayout.version !== newLayout.version) {
    lines.push(`${entities} of ${after.name} to rewrite (roughly ${duration(rows * REWRITE_US)})`)
  }
  if (buildIndexes.length > 0) {
    const names = buildIndexes.map(({ name }) => name).join(', ')
    const time = duration(rows * buildIndexes.length * INDEX_US)
    lines.push(`indexes of ${after.name} are built from ${entities} (roughly ${time}): ${names}`)
  }
  return lines
}

/** Duration in words, rounded up. */
export function duration(microseconds: number): string {
  const seconds = microseconds / 1e6
  if (seconds < 1) return 'less than a second'
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}

const byPosition = ({ attributes }: DataClass): ReadonlyMap<number, Attribute> =>
  new Map(attributes.map(attribute => [attribute.position, attribute]))

const typeOf = (attribute: Attribute): string => (attribute.kind === 'storage' ? typeName(attribute) : attribute.kind)
