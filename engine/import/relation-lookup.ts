import { setImmediate } from 'node:timers/promises'
import { stringifyExact } from '../base/exact-json.ts'
import { InputError } from '../base/input-error.ts'
import { excerpt } from '../base/text/excerpt.ts'
import { suggestion } from '../base/suggestion.ts'
import type { RelatedEntityAttribute, StorageAttribute } from '../catalog/attribute.ts'
import type { DataClass } from '../catalog/dataclass.ts'
import { Mismatch } from '../catalog/types/descriptor.ts'
import { TYPES } from '../catalog/types/registry.ts'
import type { Value } from '../catalog/value.ts'
import { attributeName } from './attribute-name.ts'
import { csvValue, type RowFormat, RowReader } from './row-reader.ts'
import { CsvSplitter } from './split-csv.ts'
import type { RowText } from './split-rows.ts'

/** Attribute by which related entities are looked up, for each relation: `{ employer: 'Company.name' }`. */
export type RelationsBy = Readonly<Record<string, string>>

/** A row whose related entities may be given by other values than their keys. */
export interface RelatedRow extends RowText {
  /** Text of the row with keys of related entities instead of these values. */
  resolvedText?: string
  /** Reason why a related entity was not found, and whether a later row may create it. */
  unresolved?: { readonly reason: string; readonly mayCome: boolean }
}

/** Relations by attribute name. In the options they may also have the names of columns, as in the header of the file. */
export function relationsOf(
  relations: RelationsBy,
  columns: Readonly<Record<string, string | null>> = {},
  isAttribute: (name: string) => boolean,
): RelationsBy {
  const entries = Object.entries(relations).map(([name, by]): [string, string] => {
    const column = Object.hasOwn(columns, name) ? (columns[name] ?? name) : name
    const match = [name, column, attributeName(name), attributeName(column)].find(isAttribute)
    return [match ?? name, by]
  })
  return Object.fromEntries(entries)
}

/**
 * Finds entities by their values of an indexed attribute, all in one state of the store.
 * @returns for each value the keys of the entities that have it, as texts, at most two
 */
export type FindKeys = (attribute: StorageAttribute, values: readonly Value[]) => Promise<readonly string[][]>

/** Number of rows that are parsed in one turn of the event loop, because the thread also serves requests. */
const ROWS_PER_TURN = 250

interface Lookup {
  readonly relation: RelatedEntityAttribute
  readonly by: StorageAttribute
  /** Index of the column of CSV. */
  readonly column: number
}

/** A value of a row that names a related entity. */
interface NamedEntity {
  readonly row: RelatedRow
  readonly lookup: Lookup
  readonly value: Value
}

/**
 * Replaces values of related entities, such as their names, by their keys. If no entity or several entities have the value, the row gets
 * the reason.
 */
export class RelationLookup {
  /** Format of the texts with keys. */
  readonly format: RowFormat
  private readonly lookups: readonly Lookup[]
  private readonly reader: RowReader

  /** @throws {Error} a relation or an attribute does not exist, or entities cannot be looked up by it */
  constructor(
    private readonly dataClass: DataClass,
    private readonly source: RowFormat,
    relations: RelationsBy,
    private readonly find: FindKeys,
  ) {
    this.lookups = Object.entries(relations).map(([name, by]) => lookupOf(dataClass, source, name, by))
    this.reader = new RowReader(dataClass, source)
    const foreignKeys = new Map(this.lookups.map(({ relation }) => [relation.name, relation.foreignKey.name]))
    const { csv, names: _, hasFeatures: __, ...foreign } = source
    this.format = {
      ...foreign,
      ...(csv && { csv: { ...csv, attributes: csv.attributes.map(name => foreignKeys.get(name ?? '') ?? name) } }),
    }
  }

  /** Reader of the texts with keys. */
  newReader(): RowReader {
    return new RowReader(this.dataClass, this.format)
  }

  /** Sets `resolvedText` or `unresolved` of rows. */
  async resolve(rows: readonly RelatedRow[]): Promise<void> {
    const entities: NamedEntity[] = []
    const writers = new Map<RelatedRow, (keys: ReadonlyMap<Lookup, string>) => string>()
    for (const [i, row] of rows.entries()) {
      if (i % ROWS_PER_TURN === ROWS_PER_TURN - 1) await setImmediate()
      delete row.unresolved
      delete row.resolvedText
      const writer = this.source.csv ? this.readFields(row, entities) : this.readObject(row, entities)
      if (writer) writers.set(row, writer)
    }
    const keys = await this.findAll(entities)
    let writtenCount = 0
    for (const [row, write] of writers) {
      if (row.unresolved) continue
      row.resolvedText = write(keys.get(row) ?? new Map())
      if (++writtenCount % ROWS_PER_TURN === 0) await setImmediate()
    }
  }

  private async findAll(entities: readonly NamedEntity[]): Promise<Map<RelatedRow, Map<Lookup, string>>> {
    const keys = new Map<RelatedRow, Map<Lookup, string>>()
    for (const lookup of this.lookups) {
      const { relation, by } = lookup
      const some = entities.filter(each => each.lookup === lookup)
      const values = [...new Set(some.map(({ value }) => value))]
      const each = values.length > 0 ? await this.find(by, values) : []
      const keysByValue = new Map(each.map((keys, i): [Value, readonly string[]] => [values[i]!, keys]))
      for (const { row, value } of some) {
        const [key, other] = keysByValue.get(value)!
        if (key !== undefined && other === undefined) {
          const ofRow = keys.get(row) ?? new Map<Lookup, string>()
          keys.set(row, ofRow.set(lookup, key))
          continue
        }
        const which = `${relation.target.name} has ${JSON.stringify(excerpt(String(value)))} as ${by.name}`
        row.unresolved = {
          reason: `${relation.name}: ${key === undefined ? 'no entity' : 'more than one entity'} of ${which}`,
          // A later row may be the missing entity.
          mayCome: key === undefined && relation.target === this.dataClass,
        }
      }
    }
    return keys
  }

  private readFields(
    row: RelatedRow,
    entities: NamedEntity[],
  ): ((keys: ReadonlyMap<Lookup, string>) => string) | undefined {
    const { delimiter, attributes } = this.source.csv!
    const fields = row.problem === undefined ? new CsvSplitter(delimiter).split(row.text) : []
    if (fields.length !== attributes.length) return undefined
    for (const lookup of this.lookups) {
      const field = fields[lookup.column]!
      if (field !== null) this.nameField(row, lookup, field.trim(), entities)
    }
    return keys => {
      for (const [{ column }, key] of keys) fields[column] = key
      return fields.map(quote).join(delimiter)
    }
  }

  private readObject(
    row: RelatedRow,
    entities: NamedEntity[],
  ): ((keys: ReadonlyMap<Lookup, string>) => string) | undefined {
    const { value } = this.reader.read(row)
    if (value instanceof Error) return undefined
    for (const lookup of this.lookups) {
      const { relation } = lookup
      const relatedValue = Object.hasOwn(value, relation.name) ? value[relation.name] : undefined
      if (relatedValue !== undefined && relatedValue !== null) this.name(row, lookup, relatedValue, entities)
    }
    return keys => {
      const copy = { ...value }
      for (const [{ relation }, key] of keys) {
        delete copy[relation.name]
        copy[relation.foreignKey.name] = key
      }
      return stringifyExact(copy)
    }
  }

  /** A field that cannot be read, such as a date without a century, affects its row alone. */
  private nameField(row: RelatedRow, lookup: Lookup, field: string, entities: NamedEntity[]): void {
    try {
      this.name(row, lookup, csvValue(lookup.by, field, this.source), entities)
    } catch (error) {
      row.unresolved = { reason: `${lookup.relation.name}: ${(error as Error).message}`, mayCome: false }
    }
  }

  private name(row: RelatedRow, lookup: Lookup, json: unknown, entities: NamedEntity[]): void {
    if (json === null) return
    const { by, relation } = lookup
    const value = TYPES[by.type].convert(json, by, true)
    if (!(value instanceof Mismatch)) entities.push({ row, lookup, value })
    else row.unresolved = { reason: `${relation.name}: a value of ${by.name} is ${value.expected}`, mayCome: false }
  }
}

const quote = (field: string | null): string => (field === null ? '' : `"${field.replaceAll('"', '""')}"`)

function lookupOf(dataClass: DataClass, { csv }: RowFormat, name: string, text: string): Lookup {
  const relation = dataClass.attributesByName.get(name)
  if (relation?.kind !== 'relatedEntity') {
    const relations = dataClass.attributes.filter(({ kind }) => kind === 'relatedEntity').map(each => each.name)
    const hint = suggestion(name, relations)
    throw new InputError(`${excerpt(name)} is not a relation to one of ${dataClass.name}${hint || listOf(relations)}`)
  }
  const [className, byName = '', ...more] = text.split('.')
  const { target } = relation
  if (className !== target.name || more.length > 0)
    throw new InputError(
      `${name} leads to ${target.name}, so it is looked up by ${target.name}.attribute, not by "${excerpt(text)}"`,
    )
  const by = target.attributesByName.get(byName)
  if (by?.kind !== 'storage' || !by.indexed) {
    const indexedNames = target.attributes
      .filter(each => each.kind === 'storage' && each.indexed)
      .map(each => each.name)
    throw new InputError(
      `${target.name} cannot be looked up by "${excerpt(byName)}": it is not an attribute with an index${listOf(indexedNames)}`,
    )
  }
  const column = csv ? csv.attributes.indexOf(name) : 0
  if (column < 0) throw new InputError(`no column is the relation ${name}: --column 'NAME=${name}' says which one`)
  return { relation, by, column }
}

const listOf = (names: readonly string[]): string => (names.length > 0 ? `; there are ${names.join(', ')}` : '')

/**
 * Lookup for the relations of a load; undefined if all related entities are given by their keys. @throws {Error} as {@link RelationLookup}
 */
export function lookupFor(
  dataClass: DataClass,
  format: RowFormat,
  {
    relations,
    columns,
  }: { relations?: RelationsBy | undefined; columns?: Readonly<Record<string, string | null>> | undefined },
  target: { findKeys: FindKeys },
): RelationLookup | undefined {
  if (!relations) return undefined
  const by = relationsOf(relations, columns, name => dataClass.attributesByName.has(name))
  return new RelationLookup(dataClass, format, by, target.findKeys.bind(target))
}
