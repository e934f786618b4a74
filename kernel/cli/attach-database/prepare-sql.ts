import { quoteName } from '../../../engine/command-line.ts'
import type { DraftModel } from '../draft-model.ts'
import type { SourceTable } from '../clone-database/source.ts'

const MAX_NAME_BYTES = 63

interface Preparation {
  readonly sql: string
  /** Number of indexes. */
  readonly indexes: number
}

/**
 * Statements that an operator may run: they create the function that folds texts, and missing indexes for searches and relations.
 * @param foldFunction statements that create the function
 * @param tables by dataclass
 * @param user user of the connection, who needs rights; undefined if unknown
 */
export function prepareSql(
  foldFunction: string,
  { dataClasses }: DraftModel,
  tables: ReadonlyMap<string, SourceTable>,
  user: string | undefined,
): Preparation {
  const usedNames = new Set<string>()
  const indexes = [...tables].flatMap(([name, table]) => {
    const { kind } = table.place!
    // Views and foreign tables have no indexes.
    if (!/table$|^materialized/.test(kind) || kind === 'foreign table') return []
    const { key, attributes } = dataClasses[name]!
    const foreignKeys = Object.values(attributes).flatMap(({ foreignKey }) => foreignKey ?? [])
    return Object.entries(attributes).flatMap(([attribute, { column = attribute, type, unique, indexed }]) => {
      const tableColumn = table.columns.find(each => each.name === column)
      if (!tableColumn) return []
      const isRelation = foreignKeys.includes(attribute)
      const isSearched = tableColumn.isText && type === 'string' && (unique || indexed || attribute === key)
      return [
        ...(isRelation && attribute !== key && !table.indexed.has(tableColumn.name)
          ? [indexOf(table, tableColumn.name, 'key', quoteName(tableColumn.name), usedNames)]
          : []),
        ...(isSearched
          ? [
              indexOf(
                table,
                tableColumn.name,
                'fold',
                `tesser.fold(${quoteName(tableColumn.name)}::text) COLLATE "C"`,
                usedNames,
              ),
            ]
          : []),
      ]
    })
  })
  const sql = `-- Optional. Lets text searches and relations of Tesser use indexes; nothing else changes. Run it as the owner of the tables, outside
-- of a transaction, and leave out what is not worth its space.

${foldFunction.trim().replace(/;?$/, ';')}
${user === undefined ? '' : `GRANT USAGE ON SCHEMA tesser TO ${quoteName(user)};\n`}
${indexes.map(each => `${each}\n`).join('')}`
  return { sql, indexes: indexes.length }
}

function indexOf(
  { place }: SourceTable,
  column: string,
  purpose: string,
  expression: string,
  usedNames: Set<string>,
): string {
  const { schema, table, kind } = place!
  const name = freeName(`tesser_${table}_${column}_${purpose}`, schema, usedNames)
  // Partitioned tables do not support CONCURRENTLY.
  const concurrently = kind === 'partitioned table' ? '' : 'CONCURRENTLY '
  return `CREATE INDEX ${concurrently}IF NOT EXISTS ${quoteName(name)} ON ${quoteName(schema, table)} (${expression});`
}

/** Returns an unused name. PostgreSQL cuts longer names, so that they might become equal. */
function freeName(preferredName: string, schema: string, usedNames: Set<string>): string {
  for (let number = 1; ; number++) {
    const end = number === 1 ? '' : `_${number}`
    const characters = [...preferredName]
    while (Buffer.byteLength(characters.join('') + end) > MAX_NAME_BYTES) characters.pop()
    const name = characters.join('') + end
    const id = JSON.stringify([schema, name])
    if (usedNames.has(id)) continue
    usedNames.add(id)
    return name
  }
}
