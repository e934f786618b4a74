/**
 * A world whose dataclasses, or some of them, are tables of PostgreSQL, and an engine that reads them.
 */
import { type Engine, openEngine } from '../../../engine/index.ts'
import { foldFunction } from '../../../engine/postgres/sql/fold-sql.ts'
import { engineOptions } from '../engine/engine-options.ts'
import type { SqlServer } from '../databases/sql-servers.ts'
import { addRow } from './changes.ts'
import { type ColumnSpec, columnFor } from './columns.ts'
import { type ComparedWorld, saveRows } from './live-world.ts'
import type { Random } from '../base/random.ts'
import { randomModel, randomPools, randomRow } from './random-world.ts'
import { oddKey, oddValue } from './odd-values.ts'
import {
  type ClassSpec,
  classOf,
  keyOf,
  modelOf,
  type OneSpec,
  type Plain,
  rowsOf,
  type StorageSpec,
  type World,
} from './world.ts'

/** Statements that a server needs once. */
export const PREPARE_SQL = `
CREATE EXTENSION IF NOT EXISTS citext;
CREATE COLLATION IF NOT EXISTS loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);`

type Columns = ReadonlyMap<StorageSpec, ColumnSpec>

export class RemoteWorld implements ComparedWorld {
  private constructor(
    readonly world: World,
    readonly engine: Engine,
  ) {}

  /** @param isMixed true if some of the dataclasses are in the store @param number of the world, for the name of its schema */
  static async open(folder: string, server: SqlServer, random: Random, isMixed: boolean, maxRows = 60) {
    const world = randomModel(random)
    const schema = random.pick(['world', 'The "World"', 'Wörld'])
    const columns = new Map<StorageSpec, ColumnSpec>()
    const specs = [...world.classes.values()].map(({ spec }) => spec)
    for (const [i, spec] of specs.entries()) {
      if (!isMixed || (i === 0 ? random.chance(0.5) : random.chance(0.6))) moveToTable(random, spec, schema, columns)
    }
    addRows(random, world, columns, maxRows)
    await server.run(
      `DROP SCHEMA IF EXISTS tesser CASCADE; ${random.chance(0.5) ? foldFunction() : ''};
       ${tablesSql(random, world, columns, schema)}`,
    )
    const engine = await openEngine(
      engineOptions({
        path: folder,
        model: modelOf(world),
        connections: { main: { url: server.url, maxConnections: 4 } },
        pool: { threads: 1, inlineCostMs: random.pick([0, 0.2, 1_000]) },
        // The reason for which a database refuses a statement is only in the log.
        onNote: text =>
          void process.stderr.write(`${text}
`),
      }),
    )
    const remote = new RemoteWorld(world, engine)
    for (const spec of remote.specs) if (!spec.storage) await saveRows(engine, spec, rowsOf(world, spec.name))
    return remote
  }

  get specs(): ClassSpec[] {
    return [...this.world.classes.values()].map(({ spec }) => spec)
  }
}

const storageOfClass = ({ attributes }: ClassSpec): StorageSpec[] => attributes.filter(each => each.kind === 'storage')

/** Makes a dataclass remote, and chooses its columns. */
function moveToTable(random: Random, spec: ClassSpec, schema: string, columns: Map<StorageSpec, ColumnSpec>): void {
  spec.storage = { postgres: 'main', schema, table: random.pick([spec.name, `${spec.name} "rows"`]), stamp: 'Stamp' }
  const foreignKeys = relationsOf(spec).map(({ foreignKey }) => foreignKey)
  for (const attribute of storageOfClass(spec)) {
    if (random.chance(0.2)) attribute.column = `${attribute.name} "Ü" x`
    delete attribute.indexed
    delete attribute.autoFill
    for (const property of Object.values(attribute.properties ?? {})) property.indexed = false
    columns.set(
      attribute,
      columnFor(random, attribute, attribute.name === spec.key || foreignKeys.includes(attribute.name)),
    )
  }
}

const relationsOf = ({ attributes }: ClassSpec): OneSpec[] => attributes.filter(each => each.kind === 'relatedEntity')

/** Rows of the store refer to rows that were there before, and all others to any row, or to none that exists. */
function addRows(random: Random, world: World, columns: Columns, maxRows: number): void {
  const pools = randomPools(random, world, maxRows)
  const specs = [...world.classes.values()].map(({ spec }) => spec)
  for (const spec of specs.filter(each => !each.storage).concat(specs.filter(each => each.storage))) {
    for (let i = random.integer(0, maxRows); i > 0; i--) {
      const values = randomRow(random, world, spec, pools)
      if (spec.storage) for (const attribute of storageOfClass(spec)) adapt(random, values, spec, attribute, columns)
      if (spec.storage && (values.get(spec.key) === null || hasKey(world, spec, values.get(spec.key)!))) continue
      addRow(world, spec.name, values).stamp = spec.storage ? random.integer(1, 5) : 1
    }
    if (spec.storage) sortByKey(world, spec)
  }
  for (const spec of specs) {
    for (const { target, foreignKey } of relationsOf(spec)) {
      const targetSpec = classOf(world, target)
      if (!spec.storage && !targetSpec.storage) continue
      const column = columns.get(spec.attributes.find(each => each.name === foreignKey) as StorageSpec)
      for (const row of rowsOf(world, spec.name)) {
        const targets = rowsOf(world, target)
        const key =
          targets.length === 0 || random.chance(0.2)
            ? random.chance(0.5)
              ? null
              : missingKey(random, targetSpec)
            : keyOf(targetSpec, random.pick(targets))
        row.values.set(foreignKey, column ? column.kept(key) : key)
      }
    }
  }
}

function adapt(
  random: Random,
  values: Map<string, Plain>,
  spec: ClassSpec,
  attribute: StorageSpec,
  columns: Columns,
): void {
  const { name } = attribute
  const isFree = name !== spec.key && !attribute.unique && values.get(name) !== null
  const isTextKey = name === spec.key && attribute.type === 'string'
  const value = random.chance(0.3)
    ? isTextKey
      ? oddKey(random)
      : isFree
        ? oddValue(random, attribute)
        : undefined
    : undefined
  values.set(name, columns.get(attribute)!.kept(value === undefined ? (values.get(name) ?? null) : value))
  // A place without a value is kept for what must have one.
  if (attribute.mandatory && values.get(name) === null) values.set(name, 0)
  if (name === spec.key && values.get(name) === '') values.set(name, null)
}

const hasKey = (world: World, spec: ClassSpec, key: Plain): boolean =>
  rowsOf(world, spec.name).some(row => keyOf(spec, row) === key)

/** A key that no entity has. */
function missingKey(random: Random, target: ClassSpec): Plain {
  const { type } = target.attributes.find(each => each.name === target.key) as StorageSpec
  return type === 'long' ? 1_999_999_999 : type === 'uuid' ? 'F'.repeat(32) : random.pick(['nowhere', 'É nowhere'])
}

/** Keys in the order of their bytes, or of their values. */
function sortByKey(world: World, spec: ClassSpec): void {
  const rows = rowsOf(world, spec.name)
  rows.sort((a, b) => {
    const [x, y] = [keyOf(spec, a), keyOf(spec, b)]
    return typeof x === 'string'
      ? Buffer.compare(Buffer.from(x), Buffer.from(y as string))
      : Number(x as number) - Number(y as number)
  })
  for (const [i, row] of rows.entries()) row.id = i + 1
}

const name = (text: string): string => `"${text.replaceAll('"', '""')}"`

function tablesSql(random: Random, world: World, columns: Columns, schema: string): string {
  const statements = [`DROP SCHEMA IF EXISTS ${name(schema)} CASCADE`, `CREATE SCHEMA ${name(schema)}`]
  for (const { spec, rows } of world.classes.values()) {
    if (!spec.storage) continue
    const table = `${name(schema)}.${name(spec.storage.table)}`
    const attributes = storageOfClass(spec)
    const full = new Set<StorageSpec>()
    const list = attributes.map(attribute => {
      const own = name(attribute.column ?? attribute.name)
      const isKey = attribute.name === spec.key
      const isFull = rows.every(row => row.values.get(attribute.name) !== null)
      if (!isKey && isFull && random.chance(0.5)) full.add(attribute)
      return `${own} ${columns.get(attribute)!.type}${isKey ? ' PRIMARY KEY' : full.has(attribute) ? ' NOT NULL' : ''}`
    })
    statements.push(`CREATE TABLE ${table} (${list}, "Stamp" int)`)
    const tuples = shuffled(random, rows).map(row => {
      const values = attributes.map(attribute => {
        const value = row.values.get(attribute.name) ?? null
        return columns.get(attribute)!.sql(random, value, full.has(attribute))
      })
      return `(${values}, ${row.stamp})`
    })
    if (tuples.length > 0) statements.push(`INSERT INTO ${table} VALUES ${tuples}`)
  }
  return statements.join(';\n')
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const places = new Map(list.map(each => [each, random.integer(0, 1e9)]))
  return [...list].sort((a, b) => places.get(a)! - places.get(b)!)
}
