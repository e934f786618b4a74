import { postgresType } from './postgres-types.ts'
import type {
  Cell,
  SourceColumn,
  SourceForeignKey,
  SourcePlace,
  SourceTable,
  SourceTables,
  SqlSource,
} from './source.ts'

const RELATIONS = `
SELECT c.oid, n.nspname, c.relname, c.relkind, has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE'),
  has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE'), EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)'
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
ORDER BY n.nspname <> 'public', n.nspname, c.relname`

/** The type of a column is that under its domains, which may also refuse null and have a default. */
const COLUMNS = `
WITH RECURSIVE base AS (
  SELECT a.attrelid, a.attnum, a.atttypid AS type, a.atttypmod AS modifier, a.attnotnull AS mandatory, NULL::text COLLATE "C" AS initial
  FROM pg_attribute a WHERE a.attnum > 0 AND NOT a.attisdropped
    AND a.attrelid IN (SELECT oid FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f'))
  UNION ALL
  SELECT b.attrelid, b.attnum, t.typbasetype, CASE WHEN b.modifier = -1 THEN t.typtypmod ELSE b.modifier END,
    b.mandatory OR t.typnotnull, coalesce(b.initial, t.typdefault)
  FROM base b JOIN pg_type t ON t.oid = b.type WHERE t.typtype = 'd')
SELECT a.attrelid, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), b.mandatory, a.attidentity <> '',
  coalesce(pg_get_expr(d.adbin, d.adrelid), b.initial), a.attgenerated <> '' OR a.attidentity = 'a', t.typname, b.modifier, t.typcategory = 'A' AND t.typelem <> 0,
  CASE WHEN t.typtype = 'e' THEN (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid) END
FROM base b JOIN pg_attribute a USING (attrelid, attnum) JOIN pg_type t ON t.oid = b.type AND t.typtype <> 'd'
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
ORDER BY a.attrelid, a.attnum`

const INDEXES = `
SELECT i.indrelid, i.indisprimary, i.indisunique AND i.indpred IS NULL,
  i.indkey::text, i.indnkeyatts, i.indpred IS NOT NULL
FROM pg_index i WHERE i.indisvalid ORDER BY i.indexrelid`

const FOREIGN_KEYS = `
SELECT c.conrelid, c.confrelid, array_to_json(c.conkey), array_to_json(c.confkey), c.confdeltype
FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 ORDER BY c.conrelid, c.conname`

const ON_DELETE: Readonly<Record<string, SourceForeignKey['onDelete']>> = { c: 'cascade', n: 'setNull' }

const KINDS: Readonly<Record<string, SourcePlace['kind']>> = {
  r: 'table',
  p: 'partitioned table',
  v: 'view',
  m: 'materialized view',
  f: 'foreign table',
}

interface Relation {
  readonly schema: string
  readonly shortName: string
  readonly name: string
  readonly kind: string
  readonly mayWrite: boolean
  readonly hasHeirs: boolean
  readonly columns: Map<number, SourceColumn>
}

export async function readPostgresTables(source: SqlSource, views: ReadonlySet<string>): Promise<SourceTables> {
  const notes: string[] = []
  const others: string[] = []
  const found = await source.query(RELATIONS)
  const uses = new Map<Cell, number>()
  for (const [, , name] of found) uses.set(name!, (uses.get(name!) ?? 0) + 1)
  const relations = new Map<Cell, Relation>()
  for (const [oid, schema, shortName, kind, isReadable, mayWrite, hasHeirs] of found as string[][]) {
    // The schema is part of a name only where it decides.
    const name = schema === 'public' || (uses.get(shortName!) ?? 0) < 2 ? shortName! : `${schema}.${shortName}`
    if (!isTable(kind!) && !views.has(name)) {
      if (isReadable === 't') others.push(name)
      continue
    }
    if (isReadable !== 't') notes.push(`table ${name} is left out: this user may not read it`)
    else
      relations.set(oid!, {
        schema: schema!,
        shortName: shortName!,
        name,
        kind: kind!,
        mayWrite: mayWrite === 't',
        hasHeirs: kind !== 'p' && hasHeirs === 't',
        columns: new Map(),
      })
  }
  for (const row of await source.query(COLUMNS)) addColumn(relations, row as string[])
  const indexes = await source.query(INDEXES)
  const foreignKeys = await source.query(FOREIGN_KEYS)
  const tables = [...relations].map(([oid, relation]): SourceTable => {
    const own = indexes.filter(([table]) => table === oid)
    const keyColumns = (row: Cell[]): string[] =>
      String(row[3])
        .split(' ')
        .slice(0, Number(row[4]))
        .map(number => relation.columns.get(Number(number))?.name ?? '')
    const uniques = own.filter(row => row[2] === 't' && row[1] !== 't').map(keyColumns)
    return {
      name: relation.name,
      // Rows of tables that inherit from this one are in those tables.
      from: `${relation.kind === 'r' ? 'ONLY ' : ''}${source.quote(relation.schema, relation.shortName)}`,
      isView: !isTable(relation.kind),
      place: {
        schema: relation.schema,
        table: relation.shortName,
        kind: KINDS[relation.kind]!,
        hasHeirs: relation.hasHeirs,
        mayWrite: relation.mayWrite,
      },
      columns: [...relation.columns.values()],
      primaryKey: own.filter(row => row[1] === 't').flatMap(keyColumns),
      // An index over an expression has no column there.
      uniques: uniques.filter(columns => !columns.includes('')),
      indexed: new Set(own.filter(row => row[5] !== 't').map(row => keyColumns(row)[0]!)),
      foreignKeys: foreignKeys.filter(([table]) => table === oid).flatMap(row => foreignKey(relations, relation, row)),
    }
  })
  return { tables, views: others, notes }
}

const isTable = (kind: string): boolean => kind === 'r' || kind === 'p'

function addColumn(relations: ReadonlyMap<Cell, Relation>, row: string[]): void {
  const [oid, number, name, declared, isMandatory, isIdentity, initial, isGenerated, type, modifier, isArray, labels] =
    row
  relations.get(oid!)?.columns.set(Number(number), {
    name: name!,
    declared: declared!,
    isNullable: isMandatory !== 't',
    increments: isIdentity === 't' || (initial ?? '').startsWith('nextval('),
    hasDefault: initial !== null && !initial!.startsWith('nextval('),
    isGenerated: isGenerated === 't',
    ...postgresType({
      name: type!,
      modifier: Number(modifier),
      isArray: isArray === 't',
      labels: labels ? (JSON.parse(labels) as string[]) : undefined,
    }),
  })
}

function foreignKey(relations: ReadonlyMap<Cell, Relation>, own: Relation, row: Cell[]): SourceForeignKey[] {
  const other = relations.get(row[1]!)
  if (!other) return []
  const names = (numbers: Cell, { columns }: Relation): string[] =>
    (JSON.parse(numbers as string) as number[]).map(number => columns.get(number)!.name)
  const onDelete = ON_DELETE[row[4] as string] ?? 'restrict'
  return [{ columns: names(row[2]!, own), table: other.name, references: names(row[3]!, other), onDelete }]
}
