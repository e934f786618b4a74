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
import { compareAny } from './cut.ts'
import { foldCall, foldExpression, markClass } from './fold-sql.ts'
import { jsonTest, type TestScope } from './json-test.ts'
import { isTextual, orderedTest } from './ordered-test.ts'
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

/** A column in a statement. */
interface Column {
  readonly form: ColumnForm
  /** The first of its columns, as it is. */
  readonly own: string
  readonly sorted: string
  compared(): string
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

  /** All tables of a connection are in one database. */
  private hasFold = false

  /** True if all tables so far are ordinary ones. */
  isOrdinary = true

  from(table: RemoteTable): From {
    this.isOrdinary &&= table.isOrdinary
    this.hasFold = table.hasFold
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
        return this.via(predicate.relation, predicate.input, from, matchesNull(predicate.input))
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
  column(attribute: StorageAttribute, { table, alias }: From): Column {
    if (attribute.head) {
      const isTime = attribute.head === 'timestamp'
      const stamp =
        table.stamp === 'xmin'
          ? `${alias}.xmin::text::int8`
          : isName(table.stamp)
            ? `${alias}.${table.stamp}::int8`
            : table.stamp
      const own = isTime ? (table.timestamp ? `${alias}.${table.timestamp}::timestamptz` : 'NULL::timestamptz') : stamp
      const form = isTime ? HEAD_TIME : HEAD_NUMBER
      return { form, own, sorted: form.sorted(own), compared: () => own }
    }
    const form = table.forms.get(attribute)!
    const columns = table.columns.get(attribute)!.map(({ name }) => `${alias}.${quoteName(name)}`)
    return { form, own: columns[0]!, sorted: form.sorted(...columns), compared: () => form.compared(...columns) }
  }

  /** SQL of a key or a foreign key that is compared as it is. */
  identity(attribute: StorageAttribute, from: From): string {
    const { form, own, sorted } = this.column(attribute, from)
    return form.identityType ? own : sorted
  }

  /** SQL of a foreign key and of the key to which it leads, which are equal for related entities. */
  related(
    foreignKey: StorageAttribute,
    from: From,
    key: StorageAttribute,
    target: From,
  ): { foreignKey: string; key: string } {
    const own = this.column(foreignKey, from).form.identityType
    const other = this.column(key, target).form.identityType
    // UUIDs may be texts in one of the tables, and padding does not belong to a text; all other columns of one family can be compared.
    const isOne = (type: string): boolean => (own === type) !== (other === type)
    return isOne('uuid') || isOne('bpchar')
      ? { foreignKey: this.column(foreignKey, from).sorted, key: this.column(key, target).sorted }
      : { foreignKey: this.identity(foreignKey, from), key: this.identity(key, target) }
  }

  /** Rows with one of some values in a key or a foreign key. */
  among(attribute: StorageAttribute, values: readonly Value[], from: From): string {
    const { form, compared } = this.column(attribute, from)
    const { add, list } = this.parameters
    if (form.domain) return compareAny(form.domain, compared(), values.map(scalarOf), add)
    const type = form.identityType ?? 'text'
    // A padded text has no blanks at its end, which its comparisons would ignore.
    const texts = values.map(form.write).filter(text => isStorable(text) && (type !== 'bpchar' || !text.endsWith(' ')))
    const sql = this.identity(attribute, from)
    return texts.length === 1 ? `${sql} = ${add(texts[0]!, type)}` : `${sql} = ANY (${list(texts, type)})`
  }

  /** Place of a key in a list of keys. */
  placeAmong(attribute: StorageAttribute, values: readonly Value[], from: From): string {
    const { form } = this.column(attribute, from)
    const type = form.identityType ?? 'text'
    return `array_position(${this.parameters.list(values.map(form.write), type)}, ${this.identity(attribute, from)}::${type})`
  }

  private test(attribute: ValueAttribute, test: ValueTest, negated: boolean, from: From): string {
    const own = stored(attribute)
    if (own.source)
      return this.ofProperty(own, { kind: 'value', type: own.source.type, test, negated: false }, negated, from)
    const { form, compared, sorted } = this.column(own, from)
    const isNull = negated || form.isText ? `${sorted} IS NOT NULL AND ` : ''
    const passes =
      form.domain && !isTextual(test)
        ? orderedTest(form.domain, compared(), test, this.parameters)
        : `(${isNull}${textTest(this.folded(own, sorted), test, this.parameters)})`
    return negated ? `(${sorted} IS NOT NULL AND NOT ${passes})` : passes
  }

  fold(text: string): string {
    return this.hasFold ? foldCall(text) : foldExpression(text, this.parameters.once(markClass(), 'text'))
  }

  /** A UUID needs no fold. */
  folded({ type }: StorageAttribute, sorted: string): string {
    return type === 'uuid' ? `${sorted} COLLATE "C"` : this.fold(sorted)
  }

  private isNull(attribute: ValueAttribute | RelatedEntityAttribute, negated: boolean, from: From): string {
    if (isRelation(attribute)) return this.hasNone(attribute, negated, from)
    const own = stored(attribute)
    if (own.source) return this.ofProperty(own, { kind: 'isNull', negated: true }, !negated, from)
    const { sorted } = this.column(own, from)
    // JSON has a null of its own.
    if (own.type === 'object') return jsonTest(sorted, { kind: 'isNull', negated }, this)
    return `${sorted} IS ${negated ? 'NOT ' : ''}NULL`
  }

  /** A relation is null without a related entity, even if there is a foreign key. */
  private hasNone(relation: RelatedEntityAttribute, negated: boolean, from: From): string {
    const one = this.via(relation, { kind: 'always' }, from, false)
    return negated ? one : `(${one}) IS NOT TRUE`
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

  /** @param isNullEnough true if the condition holds without a related entity, too */
  private via(relation: RelatedEntityAttribute, input: Predicate, from: From, isNullEnough: boolean): string {
    const { foreignKey, target } = relation
    const table = this.scope.tables.find(target)
    if (!table) {
      if (!isNullEnough) return this.among(foreignKey, this.scope.keysWhere(target, input), from)
      const others = this.scope.keysWhere(target, { kind: 'complement', input })
      return `(${this.among(foreignKey, others, from)}) IS NOT TRUE`
    }
    const other = this.from(table)
    const related = this.related(foreignKey, from, target.key, other)
    const condition = this.condition(input, other)
    if (isNullEnough) {
      return `NOT EXISTS (SELECT FROM ${table.from} AS ${other.alias} WHERE ${related.key} = ${related.foreignKey} AND (${condition}) IS NOT TRUE)`
    }
    return `${related.foreignKey} IN (SELECT ${related.key} FROM ${table.from} AS ${other.alias} WHERE ${condition})`
  }

  private some({ inverse, target }: RelatedEntitiesAttribute, input: Predicate, from: From): string {
    const own = inverse.target.key
    const table = this.scope.tables.find(target)
    if (!table) return this.among(own, this.scope.valuesWhere(inverse, input), from)
    const other = this.from(table)
    const related = this.related(inverse.foreignKey, other, own, from)
    const condition = this.condition(input, other)
    return `${related.key} IN (SELECT ${related.foreignKey} FROM ${table.from} AS ${other.alias} WHERE ${condition})`
  }
}

/** A value, which is not null, in the form for comparisons; not for texts. */
const scalarOf = (value: Value): Scalar =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'string' ? value.toLowerCase() : (value as Scalar)

const isName = (sql: string): boolean => sql.startsWith('"')

/** @throws {RemoteErrors.NOT_HERE} the values of the attribute are computed by plugin code */
export function stored(attribute: ValueAttribute): StorageAttribute {
  if (attribute.kind === 'storage' && !attribute.calculation) return attribute
  throw RemoteErrors.NOT_HERE(
    `a search or an order by ${attribute.name}, which code computes,`,
    attribute.dataClass.name,
  )
}
