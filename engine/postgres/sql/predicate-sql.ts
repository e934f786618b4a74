import type {
  RelatedEntitiesAttribute,
  RelatedEntityAttribute,
  StorageAttribute,
  ValueAttribute,
} from '../../catalog/attribute.ts'
import { isRelation } from '../../catalog/attribute.ts'
import { fold } from '../../base/text/fold.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { Value } from '../../catalog/value.ts'
import { RemoteErrors } from '../../data/remote-errors.ts'
import { ALWAYS, type JsonTest, type Predicate, type Scalar, type ValueTest } from '../../query/bind/predicate.ts'
import type { RemoteCondition } from '../../query/plan/nodes/remote-query.ts'
import { matchesNull } from '../../query/plan/lower.ts'
import type { RemoteTable, RemoteTables } from './remote-table.ts'
import { compareAny } from './cut.ts'
import { columnOf, type From, identityOf, keyConditions, relatedBy } from './from.ts'
import { partsAmong } from './key-parts.ts'
import { foldCall, foldExpression, markClass } from './fold-sql.ts'
import { jsonTest, type TestScope } from './json-test.ts'
import { isTextual, orderedTest } from './ordered-test.ts'
import { isStorable, Parameters } from './parameters.ts'
import { similarityTest } from './similarity.ts'
import { textTest } from './text-test.ts'

/** Other data that a statement needs. */
export interface SqlScope {
  readonly tables: RemoteTables
  /** True if the statement selects rows by keys that have been read, so that it need not exclude rows whose keys cannot be read. */
  readonly areKeysGiven?: boolean
  /** Keys of the entities outside this database for which a condition is true. */
  keysWhere(dataClass: DataClass, predicate: Predicate): readonly Value[]
  /** Distinct foreign keys of the entities outside this database for which a condition is true. */
  valuesWhere(relation: RelatedEntityAttribute, predicate: Predicate): readonly Value[]
  /** Conditions for the rows that the reader can see; undefined if the reader can see all rows. */
  visible?(dataClass: DataClass): readonly RemoteCondition[] | undefined
}

const isList = (condition: RemoteCondition): condition is readonly Value[] => Array.isArray(condition)

/** Writes the conditions of one statement. */
export class PredicateSql implements TestScope {
  readonly parameters = new Parameters()
  private aliases = 0

  constructor(private readonly scope: SqlScope) {}

  alias(): string {
    return `t${this.aliases++}`
  }

  /** True if the database has the function `tesser.fold`. All tables of a connection are in one database. */
  private hasFold = false

  /** True if all tables so far are ordinary ones: see {@link RemoteTable.isOrdinary}. */
  isOrdinary = true

  from(table: RemoteTable): From {
    this.isOrdinary &&= table.isOrdinary
    this.hasFold = table.hasFold
    const alias = this.alias()
    const wholeTable = { table, alias, source: `${table.from} AS ${alias}` }
    return { ...wholeTable, source: this.visibleSource(wholeTable) }
  }

  /** Dataclasses whose {@link SqlScope.visible} is being written. These conditions themselves see all rows of their dataclass. */
  private readonly restricting = new Set<DataClass>()

  private visibleSource({ table, alias, source }: From): string {
    const { dataClass } = table
    const conditions = (!this.restricting.has(dataClass) && this.scope.visible?.(dataClass)) || []
    const from = { table, alias, source }
    this.restricting.add(dataClass)
    const texts = conditions.map(each =>
      isList(each) ? this.among(dataClass.key, each, from) : this.condition(each, from),
    )
    this.restricting.delete(dataClass)
    if (!this.scope.areKeysGiven) texts.push(...keyConditions(from))
    if (texts.length === 0) return source
    const hasNumber = table.stamp(alias).startsWith(`${alias}.xmin`)
    const columns = hasNumber ? `${alias}.*, ${alias}.xmin` : `${alias}.*`
    return `(SELECT ${columns} FROM ${source} WHERE ${texts.join(' AND ')}) AS ${alias}`
  }

  /** SQL that is true for the rows of an optimized predicate; false or null for other rows. */
  condition(predicate: Predicate, from: From): string {
    switch (predicate.kind) {
      case 'always':
        return 'true'
      case 'never':
        return 'false'
      case 'test':
        return this.test(predicate.attribute, predicate.test, predicate.negated, from)
      case 'identity':
        return this.identity(predicate.attribute, predicate.texts, predicate.negated, from)
      case 'isNull':
        return this.isNull(predicate.attribute, predicate.negated, from)
      case 'json':
        return jsonTest(columnOf(storageOf(predicate.attribute), from).sorted, predicate.test, this)
      case 'via':
        return this.via(predicate.relation, predicate.input, true, from)
      case 'some':
        return this.some(predicate.relation, predicate.input, true, from)
      case 'and':
      case 'or':
        return join(
          predicate.kind,
          predicate.inputs.map(input => this.condition(input, from)),
        )
      case 'except':
        return join('and', [this.condition(predicate.left, from), this.notTrue(predicate.right, from)])
      case 'complement':
        return this.notTrue(predicate.input, from)
      case 'similarity':
        return similarityTest(predicate, from, this.parameters)
      case 'not':
        throw new Error('a predicate is optimized before it is written: NOT is at the leaves then')
    }
  }

  /**
   * SQL that is true for all rows except those of a predicate. Subqueries are negated individually, since PostgreSQL then joins tables in a
   * way whose time does not grow with the product of their sizes.
   */
  private notTrue(predicate: Predicate, from: From): string {
    switch (predicate.kind) {
      case 'via':
        return this.via(predicate.relation, predicate.input, false, from)
      case 'some':
        return this.some(predicate.relation, predicate.input, false, from)
      case 'and':
      case 'or':
        return join(
          predicate.kind === 'and' ? 'or' : 'and',
          predicate.inputs.map(input => this.notTrue(input, from)),
        )
      case 'except':
        return join('or', [this.notTrue(predicate.left, from), this.condition(predicate.right, from)])
      case 'complement':
        return this.condition(predicate.input, from)
      default:
        return `((${this.condition(predicate, from)}) IS NOT TRUE)`
    }
  }

  /** Selects rows with one of some values in a key or a foreign key. */
  among(attribute: StorageAttribute, values: readonly Value[], from: From): string {
    if (from.table.columns.get(attribute)!.length > 1) return partsAmong(values, from, this.parameters)
    const { form, compared } = columnOf(attribute, from)
    const { add, list } = this.parameters
    if (form.domain) return compareAny(form.domain, compared(), values.map(scalarOf), add)
    const type = form.identityType ?? 'text'
    // A padded text has no trailing blanks, and comparisons would ignore them in an operand.
    const texts = values.map(form.write).filter(text => isStorable(text) && (type !== 'bpchar' || !text.endsWith(' ')))
    const sql = identityOf(attribute, from)
    return texts.length === 1 ? `${sql} = ${add(texts[0]!, type)}` : `${sql} = ANY (${list(texts, type)})`
  }

  /** Place of a key in a list of keys. */
  placeAmong(attribute: StorageAttribute, values: readonly Value[], from: From): string {
    const { form } = columnOf(attribute, from)
    const type = form.identityType ?? 'text'
    return `array_position(${this.parameters.list(values.map(form.write).filter(isStorable), type)}, ${identityOf(attribute, from)}::${type})`
  }

  private test(attribute: ValueAttribute, test: ValueTest, negated: boolean, from: From): string {
    const storedAttribute = storageOf(attribute)
    if (storedAttribute.source)
      return this.ofProperty(
        storedAttribute,
        { kind: 'value', type: storedAttribute.source.type, test, negated: false },
        negated,
        from,
      )
    const { form, compared, sorted, raw } = columnOf(storedAttribute, from)
    const operands = test.kind === 'equal' ? [test.value] : test.kind === 'in' ? [...test.values] : undefined
    const isExact = operands?.every(each => form.isValue?.(each) !== false)
    const passes =
      form.domain && !isTextual(test)
        ? orderedTest(form.domain, compared(), test, this.parameters)
        : textTest(() => this.foldOf(storedAttribute, isExact ? raw : sorted), test, this.parameters)
    return negated ? `(${sorted} IS NOT NULL AND NOT ${passes})` : passes
  }

  /** Selects rows with exactly one of some texts. An index of the column or of its fold serves the condition. */
  private identity(attribute: StorageAttribute, texts: readonly string[], negated: boolean, from: From): string {
    const { form, sorted } = columnOf(attribute, from)
    const isSame = `(${sorted}) COLLATE "C" = ANY (${this.parameters.list(texts.filter(isStorable), 'text')})`
    if (negated) return `NOT ${isSame}`
    const { dataClass, columns, hasFold } = from.table
    const isComposite = columns.get(attribute)!.length > 1
    // Column collations and types may treat different texts as equal: the following conditions only allow the use of indexes.
    const isOwn = form.identityType !== undefined || isComposite
    const conditions = isOwn ? [this.among(attribute, texts, from)] : []
    if (!isOwn || (hasFold && attribute !== dataClass.key)) {
      const test = { kind: 'in', values: new Set(texts.map(fold)) } as const
      conditions.push(textTest(() => this.foldOf(attribute, sorted), test, this.parameters))
    }
    return join('and', [...conditions, isSame])
  }

  fold(text: string): string {
    return this.hasFold ? foldCall(text) : foldExpression(text, this.parameters.once(markClass(), 'text'))
  }

  /** Returns the fold of a value. A UUID needs none. */
  foldOf({ type }: StorageAttribute, sorted: string): string {
    return type === 'uuid' ? `${sorted} COLLATE "C"` : this.fold(sorted)
  }

  private isNull(attribute: ValueAttribute | RelatedEntityAttribute, negated: boolean, from: From): string {
    if (isRelation(attribute)) return this.hasNone(attribute, negated, from)
    const storedAttribute = storageOf(attribute)
    if (storedAttribute.source)
      return this.ofProperty(storedAttribute, { kind: 'isNull', negated: true }, !negated, from)
    const { fits, sorted } = columnOf(storedAttribute, from)
    if (fits !== undefined) return `(${fits}) IS ${negated ? '' : 'NOT '}TRUE`
    return `${sorted} IS ${negated ? 'NOT ' : ''}NULL`
  }

  /** Condition for rows without a related entity. Such a relation is null even if the row has a foreign key. */
  private hasNone(relation: RelatedEntityAttribute, negated: boolean, from: From): string {
    return this.viaEntity(relation, ALWAYS, negated, from)
  }

  /** A condition on a column over a property. The column holds the values of one JSON type, or only records that other values exist. */
  private ofProperty({ source }: StorageAttribute, test: JsonTest, negated: boolean, from: From): string {
    const { object, names, type, holds } = source!
    const isOfType: JsonTest = { kind: 'value', type, test: { kind: 'any' }, negated: holds === 'others' }
    const inner: JsonTest =
      test.kind === 'isNull'
        ? isOfType
        : negated
          ? { kind: 'and', inputs: [isOfType, { kind: 'not', input: test }] }
          : test
    const wholeTest = names.reduceRight<JsonTest>((input, name) => ({ kind: 'property', name, input }), inner)
    const sql = jsonTest(columnOf(object, from).sorted, wholeTest, this)
    return test.kind === 'isNull' && negated ? `NOT ${sql}` : sql
  }

  /** @param isTrue false to select the rows for which the predicate is not true */
  private via(relation: RelatedEntityAttribute, input: Predicate, isTrue: boolean, from: From): string {
    if (!matchesNull(input)) return this.viaEntity(relation, input, isTrue, from)
    // The condition also holds without a related entity: it fails only if there is a related entity for which it is not true.
    return this.viaEntity(relation, { kind: 'complement', input }, !isTrue, from)
  }

  /** Rows with a related entity for which a condition is true, or all other rows. */
  private viaEntity(relation: RelatedEntityAttribute, input: Predicate, isTrue: boolean, from: From): string {
    const { foreignKey, target } = relation
    const table = this.scope.tables.find(target)
    if (!table) return isIn(this.among(foreignKey, this.scope.keysWhere(target, input), from), isTrue)
    const other = this.from(table)
    const joinKeys = relatedBy(foreignKey, from, target.key, other)
    return this.exists(other, `${joinKeys.key} = ${joinKeys.foreignKey}`, input, isTrue)
  }

  /** @param isTrue see {@link via} */
  private some({ inverse, target }: RelatedEntitiesAttribute, input: Predicate, isTrue: boolean, from: From): string {
    const ownKey = inverse.target.key
    const table = this.scope.tables.find(target)
    if (!table) return isIn(this.among(ownKey, this.scope.valuesWhere(inverse, input), from), isTrue)
    const other = this.from(table)
    const joinKeys = relatedBy(inverse.foreignKey, other, ownKey, from)
    return this.exists(other, `${joinKeys.foreignKey} = ${joinKeys.key}`, input, isTrue)
  }

  private exists(other: From, isRelated: string, input: Predicate, isTrue: boolean): string {
    const condition = input.kind === 'always' ? '' : ` AND ${this.condition(input, other)}`
    return `${isTrue ? '' : 'NOT '}EXISTS (SELECT FROM ${other.source} WHERE ${isRelated}${condition})`
  }
}

const isIn = (condition: string, isTrue: boolean): string => (isTrue ? condition : `(${condition}) IS NOT TRUE`)

const join = (kind: 'and' | 'or', conditions: readonly string[]): string =>
  `(${conditions.join(kind === 'and' ? ' AND ' : ' OR ')})`

/** A non-null value in the form for comparisons; not for texts. */
const scalarOf = (value: Value): Scalar =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'string' ? value.toLowerCase() : (value as Scalar)

/** @throws {RemoteErrors.NOT_HERE} the values of the attribute are computed by plugin code */
export function storageOf(attribute: ValueAttribute): StorageAttribute {
  if (attribute.kind === 'storage' && !attribute.calculation) return attribute
  throw RemoteErrors.NOT_HERE(
    `a search or an order by ${attribute.name}, which code computes,`,
    attribute.dataClass.name,
  )
}
