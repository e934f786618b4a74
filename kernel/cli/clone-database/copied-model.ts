import type { DraftModel } from '../draft-model.ts'
import { orderOf } from './order.ts'
import {
  edgesOf,
  isScalar,
  isUniqueAlone,
  type ModelStyle,
  type Proposal,
  type ProposedKey,
  proposeModel,
} from './propose-model.ts'
import type { SourceColumn, SourceTable } from './source.ts'

interface CopyOptions {
  readonly name: string
  /** Names of dataclasses, by table. */
  readonly names: Readonly<Record<string, string>>
  /** Column that is the key of a view, by view. */
  readonly viewKeys: Readonly<Record<string, string | null>>
}

/** Describes tables as the model of a store into which their rows are copied. */
export function proposeCopy(tables: readonly SourceTable[], { viewKeys, ...options }: CopyOptions): Proposal {
  const style: ModelStyle = {
    participle: 'copied',
    keyOf: (table, notes) => keyOf(table, viewKeys[table.name] ?? undefined, notes),
    ofTable: (table, name, attributes) => ({
      ...(name !== table.name && { extraProperties: { table: table.name } }),
      ...uniqueTogether(table, attributes),
    }),
    ofColumn: ({ name: column, isNullable }, _, name, isKey) => ({
      mandatory: !isKey && !isNullable,
      extraProperties: name !== column && { column },
    }),
  }
  const proposal = proposeModel(tables, { ...options, style })
  openCircles(proposal.model, proposal.notes)
  return proposal
}

/** Lists of columns that are unique together and do not become a key. Lists with a column that is unique alone are superfluous. */
function uniqueTogether(table: SourceTable, attributes: ReadonlyMap<string, string>): { unique?: string[][] } {
  const columns = new Map(table.columns.map(column => [column.name, column]))
  const isMember = (name: string): boolean => isScalar(columns.get(name)!) && !isUniqueAlone(columns.get(name)!, table)
  const lists = [table.primaryKey, ...table.uniques].filter(list => list.length > 1 && list.every(isMember))
  const different = new Map(lists.map(list => [[...list].sort().join('\0'), list]))
  const unique = [...different.values()].map(list => list.map(name => attributes.get(name)!))
  return unique.length > 0 ? { unique } : {}
}

/** The column that becomes the key, or a new attribute. */
function keyOf(table: SourceTable, keyName: string | undefined, notes: string[]): ProposedKey {
  const scalar = (name: string | undefined): SourceColumn | undefined =>
    table.columns.find(column => column.name === name && isScalar(column))
  if (keyName !== undefined) {
    const column = scalar(keyName)
    if (!column)
      throw new Error(`--view ${table.name}=${keyName}: the view has no such column, or the column cannot be a key`)
    return { column }
  }
  const { primaryKey } = table
  const primary = primaryKey.length === 1 ? scalar(primaryKey[0]) : undefined
  if (primary) return { column: primary }
  if (primaryKey.length > 0) {
    notes.push(
      `${table.name} has the key ${primaryKey.join(', ')}: the attribute ID, a UUID made from it, is the key instead`,
    )
    return { added: { type: 'uuid', autoFill: 'uuid' } }
  }
  const unique = table.uniques
    .filter(columns => columns.length === 1)
    .map(([name]) => scalar(name))
    .find(column => column && !column.isNullable)
  if (unique) {
    notes.push(`${table.name} has no primary key: the unique column ${unique.name} is the key`)
    return { column: unique }
  }
  if (!table.rowNumber) notes.push(`${table.name} has no key: the attribute ID numbers its rows`)
  return { added: { type: 'long64', autoFill: 'increment' } }
}

/** Breaks cycles of mandatory foreign keys: entities of one dataclass must be saved before the entities that they refer to. */
function openCircles({ dataClasses }: DraftModel, notes: string[]): void {
  const edges = Object.entries(dataClasses).flatMap(([name, document]) => edgesOf(name, document))
  for (const { from, foreignKey, isMandatory } of orderOf(Object.keys(dataClasses), edges).deferred) {
    if (!isMandatory) continue
    notes.push(
      `${from}.${foreignKey} is part of a circle of relations: it is not mandatory, because it is set after all rows are copied`,
    )
    delete dataClasses[from]!.attributes[foreignKey]!.mandatory
  }
}
