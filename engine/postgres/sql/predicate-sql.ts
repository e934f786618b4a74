import type {
  RelatedEntitiesAttribute,
  RelatedEntityAttribute,
  StorageAttribute,
  ValueAttribute,
} from '../../catalog/attribute.ts'
import { isRelation } from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import type { JsonTest, Predicate, Scalar, ValueTest } from '../../query/bind/predicate.ts'
import { matchesNull } from '../../query/plan/lower.ts'
import { quoteName } from '../quote.ts'
import type { RemoteTable, RemoteTables } from '../remote-table.ts'
import { type ColumnForm, columnForm } from './column-form.ts'
import { jsonTest, type TestScope } from './json-test.ts'
import { isStorable, Parameters } from './parameters.ts'
import { textTest } from './text-test.ts'

/** Other data that a statement needs. */
export interface SqlScope {
  readonly tables: RemoteTables
  /** Keys of the entities elsewhere for which a condition is true. */
  keysWhere(dataClass: DataClass, predicate: Predicate): readonly Value[]
  /** Different foreign keys of the entities elsewhere for which a condition is true. */
  valuesWhere(relation: RelatedEntityAttribute, predicate: Predicate): readonly Value[]
}

/** A table in a statement. */
export interface From {
  readonly table: RemoteTable
  /** Its name in the statement. */
  readonly alias: string
}

const HEAD_NUMBER = columnForm({ type: 'long64' } as StorageAttribute, [{ type: 'int8' } as never]) as ColumnForm
const HEAD_TIME = columnForm({ type: 'date' } as StorageAttribute, [{ type: 'timestamptz' } as never]) as ColumnForm

/** Writes the conditions of one statement. */
export class PredicateSql implements TestScope {
  readonly parameters = new Parameters()
  private aliases = 0

  constructor(private readonly scope: SqlScope) {}

  alias(): string {
    return `t${this.aliases++}`
  }

  /** Set by {@link condition}: all tables of a connection fold in the same way. */
  fold = (text: string): string => text

  from(table: RemoteTable): From {
    this.fold = text => table.fold(text)
    return { table, alias: this.alias() }
  }

  /** SQL that is true for the rows of a predicate, which is optimized; false or null for others. */
  condition(predicate: Predicate, from: From): string {
    switch (predicate.kind) {
      case 'always':
        return 'true'
      case 'never':
        return 'false'
      case 'test':
        return this.test(predicate.attribute, predicate.test, predicate.negated, from)
      case 'isNull':
        return this.isNull(predicate.attribute, predicate.negated, from)
      case 'json':
        return jsonTest(this.column(stored(predicate.attribute), from).sorted, predicate.test, this)
      case 'via':
        return this.via(predicate.relation, predicate.input, from)
      case 'some':
        return this.some(predicate.relation, predicate.input, from)
      case 'and':
      case 'or': {
        const word = predicate.kind === 'and' ? ' AND ' : ' OR '
        return `(${predicate.inputs.map(input => this.condition(input, from)).join(word)})`
      }
      case 'except':
        return `(${this.condition(predicate.left, from)} AND (${this.condition(predicate.right, from)}) IS NOT TRUE)`
      case 'complement':
        return `((${this.condition(predicate.input, from)}) IS NOT TRUE)`
      case 'similarity':
        throw RemoteErrors.NOT_HERE('a search by similarity', predicate.attribute.dataClass.name)
      case 'not':
        throw new Error('a predicate is optimized before it is written: NOT is at the leaves then')
    }
  }

  /** The column of an attribute, or of a member of the head, with its form. */
  column(attribute: StorageAttribute, { table, alias }: From): { form: ColumnForm; own: string; sorted: string } {
    if (attribute.head) {
      const isTime = attribute.head === 'timestamp'
      const own = isTime
        ? table.timestamp
          ? `${alias}.${table.timestamp}::timestamptz`
          : 'NULL::timestamptz'
        : table.stamp(alias)
      const form = isTime ? HEAD_TIME : HEAD_NUMBER
      return { form, own, sorted: form.sorted(own) }
    }
    const form = table.forms.get(attribute)!
    const columns = table.columns.get(attribute)!.map(({ name }) => `${alias}.${quoteName(name)}`)
    return { form, own: columns[0]!, sorted: form.sorted(...columns) }
  }

  /** SQL of a key or a foreign key that is compared as it is. */
  private identity(attribute: StorageAttribute, from: From): { sql: string; type: string; write: ColumnForm['write'] } {
    const { form, own, sorted } = this.column(attribute, from)
    const { identityType } = form
    return identityType
      ? { sql: own, type: identityType, write: form.write }
      : { sql: sorted, type: 'text', write: form.write }
  }

  /** Rows with one of some values in a key or a foreign key. */
  among(attribute: StorageAttribute, values: readonly Value[], from: From): string {
    const { sql, type, write } = this.identity(attribute, from)
    const texts = values.map(write).filter(isStorable)
    if (texts.length === 1) return `${sql} = ${this.parameters.add(texts[0]!, type)}`
    return `${sql} = ANY (${this.parameters.list(texts, type)})`
  }

  private test(attribute: ValueAttribute, test: ValueTest, negated: boolean, from: From): string {
    const own = stored(attribute)
    if (own.source)
      return this.ofProperty(own, { kind: 'value', type: own.source.type, test, negated: false }, negated, from)
    const { form, own: column, sorted } = this.column(own, from)
    const passes = form.isText
      ? textTest(this.folded(own, sorted), test, this.parameters)
      : this.scalarTest(form, column, test)
    return negated
      ? `(${sorted} IS NOT NULL AND NOT ${passes})`
      : form.isText
        ? `(${sorted} IS NOT NULL AND ${passes})`
        : passes
  }

  /** A UUID needs no fold. */
  folded({ type }: StorageAttribute, sorted: string): string {
    return type === 'uuid' && sorted.startsWith('replace(') ? `${sorted} COLLATE "C"` : this.fold(sorted)
  }

  private scalarTest(form: ColumnForm, column: string, test: ValueTest): string {
    const compare = (comparator: '=' | '<' | '<=' | '>' | '>=', value: Scalar): string =>
      form.compare(column, comparator, value, this.parameters.add)
    switch (test.kind) {
      case 'any':
        return `(${column} IS NOT NULL)`
      case 'equal':
        return compare('=', test.value)
      case 'in':
        return test.values.size === 0 ? 'false' : `(${[...test.values].map(value => compare('=', value)).join(' OR ')})`
      case 'range': {
        const { lower, upper } = test
        const bounds = [
          lower && compare(lower.inclusive ? '>=' : '>', lower.value),
          upper && compare(upper.inclusive ? '<=' : '<', upper.value),
        ].filter(each => each !== undefined)
        return bounds.length === 0 ? `(${column} IS NOT NULL)` : `(${bounds.join(' AND ')})`
      }
      case 'anyOf':
        return `(${test.tests.map(each => this.scalarTest(form, column, each)).join(' OR ')})`
      case 'pattern':
      case 'keyword':
        return 'false'
    }
  }

  private isNull(attribute: ValueAttribute | RelatedEntityAttribute, negated: boolean, from: From): string {
    if (isRelation(attribute)) return this.hasNone(attribute, negated, from)
    const own = stored(attribute)
    if (own.source) return this.ofProperty(own, { kind: 'isNull', negated: true }, !negated, from)
    return `${this.column(own, from).sorted} IS ${negated ? 'NOT ' : ''}NULL`
  }

  /** A relation is null without a related entity, even if there is a foreign key. */
  private hasNone(relation: RelatedEntityAttribute, negated: boolean, from: From): string {
    const none = this.via(relation, { kind: 'complement', input: { kind: 'always' } }, from)
    return negated ? `(${none}) IS NOT TRUE` : none
  }

  /** A condition on a column over a property: it holds the values of one JSON type, or only the presence of others. */
  private ofProperty({ source }: StorageAttribute, test: JsonTest, negated: boolean, from: From): string {
    const { object, names, type, holds } = source!
    const isOfType: JsonTest = { kind: 'value', type, test: { kind: 'any' }, negated: holds === 'others' }
    const inner: JsonTest =
      test.kind === 'isNull'
        ? isOfType
        : negated
          ? { kind: 'and', inputs: [isOfType, { kind: 'not', input: test }] }
          : test
    const whole = names.reduceRight<JsonTest>((input, name) => ({ kind: 'property', name, input }), inner)
    const sql = jsonTest(this.column(object, from).sorted, whole, this)
    return test.kind === 'isNull' && negated ? `NOT ${sql}` : sql
  }

  private via(relation: RelatedEntityAttribute, input: Predicate, from: From): string {
    const { foreignKey, target } = relation
    const table = this.scope.tables.find(target)
    const isNullEnough = matchesNull(input)
    const key = this.identity(foreignKey, from)
    if (!table) {
      if (!isNullEnough) return this.among(foreignKey, this.scope.keysWhere(target, input), from)
      const others = this.scope.keysWhere(target, { kind: 'complement', input })
      return `(${this.among(foreignKey, others, from)}) IS NOT TRUE`
    }
    const other = this.from(table)
    const targetKey = this.identity(target.key, other)
    const isRelated = `${targetKey.sql} = ${key.sql}`
    const condition = this.condition(input, other)
    if (isNullEnough) {
      return `NOT EXISTS (SELECT FROM ${table.from} AS ${other.alias} WHERE ${isRelated} AND (${condition}) IS NOT TRUE)`
    }
    return `${key.sql} IN (SELECT ${targetKey.sql} FROM ${table.from} AS ${other.alias} WHERE ${condition})`
  }

  private some({ inverse, target }: RelatedEntitiesAttribute, input: Predicate, from: From): string {
    const own = inverse.target.key
    const table = this.scope.tables.find(target)
    if (!table) return this.among(own, this.scope.valuesWhere(inverse, input), from)
    const other = this.from(table)
    const foreignKey = this.identity(inverse.foreignKey, other)
    const condition = this.condition(input, other)
    const key = this.identity(own, from)
    return `${key.sql} IN (SELECT ${foreignKey.sql} FROM ${table.from} AS ${other.alias} WHERE ${condition})`
  }
}

/** @throws {RemoteErrors.NOT_HERE} the values of the attribute are computed by plugin code */
export function stored(attribute: ValueAttribute): StorageAttribute {
  if (attribute.kind === 'storage' && !attribute.calculation) return attribute
  throw RemoteErrors.NOT_HERE(
    `a search or an order by ${attribute.name}, which code computes,`,
    attribute.dataClass.name,
  )
}
