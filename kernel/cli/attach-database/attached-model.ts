import type { DraftModel } from '../draft-model.ts'
import { type ModelStyle, proposeModel } from '../clone-database/propose-model.ts'
import { type AttributeProposal, type SourceColumn, SourceError, type SourceTable } from '../clone-database/source.ts'
import { withAttachedTypes } from './attached-types.ts'
import { chooseKey, type KeyChoice } from './choose-key.ts'
import { Notes } from './notes.ts'

export interface AttachOptions {
  /** Name of the model. */
  readonly name: string
  /** Name of the connection. */
  readonly connection: string
  /** Names of dataclasses, by table. */
  readonly names: Readonly<Record<string, string>>
  /** Columns of `--key`, by table or view. */
  readonly keys: Readonly<Record<string, string>>
  /** Column that is the stamp of every table that has it. */
  readonly stamp?: string | undefined
  /** Column that has the time of the last change, in every table that has it. */
  readonly timestamp?: string | undefined
  /** Type for exact numbers of any number of digits. */
  readonly numeric?: AttributeProposal | undefined
}

export interface AttachedModel {
  readonly model: DraftModel
  readonly notes: readonly string[]
  /** Tables by their dataclass. */
  readonly tables: ReadonlyMap<string, SourceTable>
  /** Tables without a key. */
  readonly leftOut: readonly string[]
}

/** Columns that the server sets. */
interface ServerColumn {
  readonly option: 'stamp' | 'timestamp'
  readonly requirement: string
  fits(column: SourceColumn, table: SourceTable): boolean
  /** Matches the usual names of such columns. */
  readonly usual: RegExp
}

const SERVER_COLUMNS: readonly ServerColumn[] = [
  {
    option: 'stamp',
    requirement: 'a whole number that is never null, is in no key, and is not generated',
    fits: ({ name, attribute, isNullable, isGenerated, increments }, { primaryKey, foreignKeys }) =>
      /^(?:word|long|long64)$/.test(attribute.type) &&
      !isNullable &&
      !isGenerated &&
      !increments &&
      !primaryKey.includes(name) &&
      !foreignKeys.some(({ columns }) => columns.includes(name)),
    usual: /^(?:row_?|lock_?|opt_?lock_?)?version$/i,
  },
  {
    option: 'timestamp',
    requirement: 'a date with a time',
    fits: ({ attribute }) => attribute.type === 'date' && attribute.simpleDate !== true,
    usual: /^(?:last_?)?(?:update|updated|modified|changed)(?:_?(?:at|on|date|time))?$/i,
  },
]

/**
 * Describes tables as dataclasses whose entities are their rows.
 * @throws {SourceError} an option names what does not exist
 */
export function attachedModel(sources: readonly SourceTable[], options: AttachOptions): AttachedModel {
  const notes = new Notes()
  const keys = new Map<string, KeyChoice>()
  const leftOut: string[] = []
  const attachedTables: SourceTable[] = []
  for (const table of sources) {
    const key = chooseKey(table, options.keys[table.name])
    if (!key) {
      leftOut.push(table.name)
      continue
    }
    keys.set(table.name, key)
    noteKey(table, key, notes)
    attachedTables.push(withAttachedTypes(table, key, options.numeric, notes))
  }
  for (const column of SERVER_COLUMNS) noteServerColumn(column, attachedTables, options, notes)
  const tables = new Map<string, SourceTable>()
  const style: ModelStyle = {
    participle: 'attached',
    keyOf: ({ name, columns }) => {
      const names = keys.get(name)!.columns.map(column => column.name)
      const [only, more] = names
      return more === undefined
        ? { column: columns.find(column => column.name === only)! }
        : { added: { type: 'string', column: names } }
    },
    ofTable: (table, name) => {
      tables.set(name, table)
      return { storage: storageOf(table, name, keys.get(table.name)!, options) }
    },
    ofColumn: (column, table, name, isKey) => {
      const isSet = column.isGenerated || SERVER_COLUMNS.some(each => serverColumn(each, table, options) === column)
      const isNeeded = !isKey && !column.isNullable && !column.hasDefault && !column.increments && !isSet
      return { mandatory: isNeeded, readOnly: isSet, column: name !== column.name && column.name }
    },
  }
  const { model, notes: modelNotes } = proposeModel(attachedTables, { name: options.name, names: options.names, style })
  return { model, notes: [...notes.lines(), ...modelNotes], tables, leftOut }
}

function storageOf(table: SourceTable, name: string, key: KeyChoice, options: AttachOptions): Record<string, unknown> {
  const { schema, table: ownName } = table.place!
  return {
    postgres: options.connection,
    ...(schema !== 'public' && { schema }),
    ...(ownName !== name && { table: ownName }),
    ...Object.fromEntries(
      SERVER_COLUMNS.flatMap(each => {
        const column = serverColumn(each, table, options)
        return column ? [[each.option, column.name]] : []
      }),
    ),
    ...(readOnlyReason(table, key) !== undefined && { readOnly: true }),
  }
}

function noteKey(table: SourceTable, key: KeyChoice, notes: Notes): void {
  const names = key.columns.map(({ name }) => name)
  if (names.length > 1) notes.add(table.name, 'has a key of several columns: the attribute ID combines them')
  else if (key.isKept && table.primaryKey.join() !== names.join())
    notes.add(table.name, `has no usable primary key: the unique column ${names[0]} is the key`)
  const reason = readOnlyReason(table, key)
  if (reason !== undefined) notes.add(table.name, `is read-only: ${reason}`)
}

/** Reason why entities of a table cannot be changed; undefined if they can. */
function readOnlyReason({ place }: SourceTable, { columns, isKept }: KeyChoice): string | undefined {
  const { kind, hasHeirs, mayWrite } = place!
  if (!kind.endsWith('table') || kind === 'foreign table') return `it is a ${kind}`
  if (hasHeirs) return 'it includes the rows of tables that inherit from it, and no key distinguishes all of them'
  if (!isKept) return `the database does not keep ${columns.map(({ name }) => name).join(', ')} unique and never null`
  return mayWrite ? undefined : 'this user may not change it'
}

function serverColumn(
  { option, fits }: ServerColumn,
  table: SourceTable,
  options: AttachOptions,
): SourceColumn | undefined {
  return table.columns.find(column => column.name === options[option] && fits(column, table))
}

function noteServerColumn(
  server: ServerColumn,
  tables: readonly SourceTable[],
  options: AttachOptions,
  notes: Notes,
): void {
  const { option, requirement, fits, usual } = server
  const columnName = options[option]
  if (columnName === undefined) {
    for (const table of tables)
      for (const column of table.columns)
        if (usual.test(column.name) && fits(column, table))
          notes.add(`${table.name}.${column.name}`, `could be the ${option} of its table: --${option} ${column.name}`)
    return
  }
  if (!tables.some(table => serverColumn(server, table, options)))
    throw new SourceError(`--${option} ${columnName}: no table has a column of that name that is ${requirement}`)
  for (const table of tables)
    for (const column of table.columns)
      if (column.name === columnName && !fits(column, table))
        notes.add(`${table.name}.${columnName}`, `is not the ${option}: it is not ${requirement}`)
}
