import { Names, plural, relationName } from './names.ts'
import { type Edge, orderOf } from './order.ts'
import type { SourceColumn, SourceForeignKey, SourceTable } from './source.ts'

/** A model file, as far as it is written and read here. */
export interface ModelDocument {
  $schema?: string
  name: string
  dataClasses: Record<string, DataClassDocument>
}

interface DataClassDocument {
  key: string
  attributes: Record<string, AttributeDocument>
  /** `table`: name of the table in the source, where it differs. */
  extraProperties?: { table?: string }
}

export interface AttributeDocument {
  kind?: string
  type?: string
  /** `column`: name of the column in the source, where it differs. */
  extraProperties?: { column?: string }
  [property: string]: unknown
}

interface Proposal {
  readonly model: ModelDocument
  /** Losses and decisions: one sentence each. */
  readonly notes: readonly string[]
}

interface ProposalOptions {
  readonly name: string
  /** Names of dataclasses, by table. */
  readonly names: Readonly<Record<string, string>>
  /** Column that is the key of a view, by view. */
  readonly viewKeys: Readonly<Record<string, string | null>>
}

/** Types that may be a key or have an index: one value, which is not an object or bytes. */
const NOT_SCALAR = new Set(['object', 'blob', 'image', 'vector'])
const INCREMENTED = new Set(['word', 'long', 'long64'])
const FAMILY: Readonly<Record<string, string>> = {
  byte: 'integer',
  word: 'integer',
  long: 'integer',
  long64: 'integer',
}

/** A dataclass under construction. */
interface Draft {
  readonly name: string
  readonly table: SourceTable
  readonly document: DataClassDocument
  /** Names of attributes by column. */
  readonly attributes: Map<string, string>
  readonly used: Names
}

/** Describes tables as a model. */
export function proposeModel(tables: readonly SourceTable[], options: ProposalOptions): Proposal {
  const notes: string[] = []
  const used = new Names()
  const drafts = new Map<string, Draft>()
  for (const [i, table] of tables.entries()) {
    const name = used.take(options.names[table.name] ?? table.name, `table_${i + 1}`)
    // Names of selections are names too.
    used.take(`${name}Selection`, name)
    drafts.set(table.name, draftOf(table, name, options, notes))
  }
  for (const draft of drafts.values()) addRelations(draft, drafts, notes)
  openCircles([...drafts.values()], notes)
  const dataClasses = Object.fromEntries([...drafts.values()].map(({ name, document }) => [name, document]))
  return { model: { name: options.name, dataClasses }, notes }
}

function draftOf(table: SourceTable, name: string, { viewKeys }: ProposalOptions, notes: string[]): Draft {
  const used = new Names()
  const attributes = new Map<string, string>()
  for (const [i, { name: column }] of table.columns.entries())
    attributes.set(column, used.take(column, `column_${i + 1}`))
  const key = keyOf(table, viewKeys[table.name] ?? undefined, notes)
  const keyName = key ? attributes.get(key.name)! : used.take('ID', 'ID')
  const document: DataClassDocument = {
    key: keyName,
    attributes: {
      ...(!key && { [keyName]: generatedKey(table) }),
      ...Object.fromEntries(
        table.columns.map(column => [
          attributes.get(column.name)!,
          attributeOf(column, table, column === key, attributes.get(column.name)!),
        ]),
      ),
    },
    ...(name !== table.name && { extraProperties: { table: table.name } }),
  }
  for (const { name: column, note } of table.columns) if (note) notes.push(`${table.name}.${column} ${note}`)
  for (const columns of table.uniques)
    if (columns.length > 1)
      notes.push(`${table.name}: that ${columns.join(', ')} are unique together is not part of a model`)
  return { name, table, document, attributes, used }
}

function attributeOf(column: SourceColumn, table: SourceTable, isKey: boolean, name: string): AttributeDocument {
  const isScalar = !NOT_SCALAR.has(column.attribute.type)
  const isUnique = isScalar && table.uniques.some(columns => columns.length === 1 && columns[0] === column.name)
  return {
    ...column.attribute,
    ...(isKey && column.increments && INCREMENTED.has(column.attribute.type) && { autoFill: 'increment' }),
    ...(isKey && column.attribute.type === 'uuid' && column.hasDefault && { autoFill: 'uuid' }),
    ...(!isKey && !column.isNullable && { mandatory: true }),
    ...(!isKey && isUnique && { unique: true }),
    ...(!isKey && !isUnique && isScalar && table.indexed.has(column.name) && { indexed: true }),
    ...(name !== column.name && { extraProperties: { column: column.name } }),
  }
}

/** The column that becomes the key; undefined if an attribute has to be made. */
function keyOf(table: SourceTable, chosen: string | undefined, notes: string[]): SourceColumn | undefined {
  const scalar = (name: string | undefined): SourceColumn | undefined =>
    table.columns.find(column => column.name === name && !NOT_SCALAR.has(column.attribute.type))
  if (chosen !== undefined) {
    const found = scalar(chosen)
    if (!found)
      throw new Error(`--view ${table.name}=${chosen}: the view has no such column, or one that cannot be a key`)
    return found
  }
  const { primaryKey } = table
  if (primaryKey.length === 1 && scalar(primaryKey[0])) return scalar(primaryKey[0])
  if (primaryKey.length > 0) {
    notes.push(
      `${table.name} has the key ${primaryKey.join(', ')}: the attribute ID, a UUID made from it, is the key in its place`,
    )
    return undefined
  }
  const unique = table.uniques
    .filter(columns => columns.length === 1)
    .map(([name]) => scalar(name))
    .find(column => column && !column.isNullable)
  if (unique) notes.push(`${table.name} has no primary key: the unique column ${unique.name} is the key`)
  else if (!table.rowNumber) notes.push(`${table.name} has no key: the attribute ID numbers its rows`)
  return unique
}

const generatedKey = ({ primaryKey }: SourceTable): AttributeDocument =>
  primaryKey.length > 0 ? { type: 'uuid', autoFill: 'uuid' } : { type: 'long64', autoFill: 'increment' }

function addRelations(draft: Draft, drafts: ReadonlyMap<string, Draft>, notes: string[]): void {
  const { table, document, attributes, used } = draft
  const taken = new Set<string>()
  for (const key of table.foreignKeys) {
    const other = drafts.get(key.table)
    const problem = relationProblem(draft, other, key, taken)
    if (problem) {
      notes.push(
        `${table.name}: the foreign key ${key.columns.join(', ')} to ${key.table} is not a relation, ${problem}`,
      )
      continue
    }
    const column = key.columns[0]!
    taken.add(column)
    const foreignKey = attributes.get(column)!
    const relation = used.take(freeRelationName(column, key.table, used), 'relation')
    const isOnly = table.foreignKeys.filter(each => each.table === key.table).length === 1 && other !== draft
    const inverse = other!.used.take(isOnly ? plural(draft.name) : `${plural(draft.name)}_by_${relation}`, 'inverse')
    const isMandatory = document.attributes[foreignKey]!.mandatory === true || document.key === foreignKey
    const onDelete = key.onDelete === 'setNull' && isMandatory ? 'restrict' : key.onDelete
    document.attributes[relation] = {
      kind: 'relatedEntity',
      type: other!.name,
      foreignKey,
      inverseName: inverse,
      ...(onDelete !== 'restrict' && { onDelete }),
    }
    other!.document.attributes[inverse] = {
      kind: 'relatedEntities',
      type: `${draft.name}Selection`,
      inverseName: relation,
    }
    delete document.attributes[foreignKey]!.indexed
  }
}

/** `author` for `author_id`; the name of the other table where that is not one or is taken. */
function freeRelationName(column: string, table: string, used: Names): string {
  const candidates = [relationName(column), table, `${column}_${table}`]
  return candidates.find(name => name !== undefined && !used.has(name)) ?? `${column}_${table}`
}

/** Reason why a foreign key cannot be a relation; undefined if it can. */
function relationProblem(
  { table, document, attributes }: Draft,
  other: Draft | undefined,
  { columns, references }: SourceForeignKey,
  taken: ReadonlySet<string>,
): string | undefined {
  if (!other) return 'because that table is not copied'
  if (columns.length > 1) return 'because it has several columns'
  const target = other.attributes.get(references[0] ?? '')
  if (target === undefined || target !== other.document.key)
    return `because ${references.join(', ')} is not the key there`
  if (taken.has(columns[0]!)) return 'because the column has a relation already'
  const own = document.attributes[attributes.get(columns[0]!) ?? '']
  if (!own) return `because ${table.name} has no such column`
  const key = other.document.attributes[other.document.key]!
  const family = ({ type, scale }: AttributeDocument): string => `${FAMILY[type!] ?? type} ${scale ?? ''}`
  return family(own) === family(key) ? undefined : `because its type is ${own.type}, that of the key ${key.type}`
}

/** The foreign keys of a circle cannot all be mandatory: entities of one dataclass are saved before those that they refer to. */
function openCircles(drafts: readonly Draft[], notes: string[]): void {
  const edges = drafts.flatMap(({ name, document }) => edgesOf(name, document))
  for (const { from, foreignKey, isMandatory } of orderOf(
    drafts.map(({ name }) => name),
    edges,
  ).deferred) {
    const draft = drafts.find(({ name }) => name === from)!
    const attribute = draft.document.attributes[foreignKey]!
    if (!isMandatory) continue
    notes.push(
      `${from}.${foreignKey} is part of a circle of relations: it is not mandatory, as it is set when all rows are there`,
    )
    delete attribute.mandatory
  }
}

/** Relations to one of a dataclass. */
export function edgesOf(name: string, { key, attributes }: DataClassDocument): Edge[] {
  return Object.values(attributes).flatMap(({ kind, type, foreignKey }): Edge[] => {
    if (kind !== 'relatedEntity' || typeof foreignKey !== 'string') return []
    const isMandatory = foreignKey === key || attributes[foreignKey]?.mandatory === true
    return [{ from: name, to: type!, foreignKey, isMandatory }]
  })
}
