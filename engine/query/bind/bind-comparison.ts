import {
  type CalculatedAttribute,
  isExactText,
  isRelation,
  type JsonType,
  type RelationAttribute,
  type StorageAttribute,
  type ValueAttribute,
} from '../../catalog/attribute.ts'
import type { ComparisonScalar } from '../../catalog/types/operand.ts'
import { parametersOf } from '../../catalog/types/parameters.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import { isScalarType, type PropertyType } from '../../catalog/value-type.ts'
import { fold } from '../../base/text/fold.ts'
import { codeOf } from '../contract/calculated-code.ts'
import { TEXT_LIMITS, type TextLimits } from '../parse/limits.ts'
import { type Comparator, SPELLING } from '../parse/syntax-tree.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import { bindSimilarity } from './bind-similarity.ts'
import { bindTest, isNegative, isTextual } from './bind-test.ts'
import {
  type Comparand,
  type ComparisonValue,
  convertForJson,
  convertToText,
  convertValue,
  type Operand,
  textOf,
} from './convert-value.ts'
import { ALWAYS, combine, combineTests, type JsonTest, type Predicate } from './predicate.ts'
import type { ElementStep, RelationStep, ResolvedPath } from './resolve-path.ts'

/** One comparison, still with its path, because it may share related entities and elements with other comparisons. */
export interface Condition {
  readonly relations: readonly RelationStep[]
  /** Condition on the entity at the end of the relations. */
  readonly leaf: Predicate | JsonCondition
}

/** Condition on the content of an object attribute. */
export interface JsonCondition {
  readonly kind: 'elements'
  readonly attribute: ValueAttribute
  readonly elements: readonly ElementStep[]
  readonly test: JsonTest
  /** True if all elements have to pass, and at least one has to exist: `coll[] != v`. With a letter (`coll[a] != v`) one is enough. */
  readonly everyElement: boolean
}

/**
 * @throws {QueryErrors.COMPARATOR} when it does not apply to the target of the path
 * @throws {QueryErrors.NOT_SEARCHABLE}
 * @throws the errors of {@link convertValue}
 * Source: protocol notes, 2.3 to 2.10.
 */
export function bindComparison(
  path: ResolvedPath,
  comparator: Comparator,
  value: ComparisonValue,
  limits: TextLimits = TEXT_LIMITS,
): Condition {
  const { target, relations } = path
  if (target.kind === 'calculated') requireCode(target, path)
  if (value.kind === 'null') return bindNull(path, target, comparator)
  if (target.kind === 'relatedEntity' && EQUALITY.has(comparator)) {
    // In a comparison with a value, an N→1 relation stands for the key of the related entity.
    const key: ResolvedPath = {
      ...path,
      relations: [...relations, { relation: target, classIndex: undefined }],
      target: target.target.key,
      isKey: true,
    }
    return bindComparison(key, comparator, value, limits)
  }
  if (isRelation(target)) {
    const usable =
      target.kind === 'relatedEntity'
        ? '= or != with a key or null, in, or a path into it'
        : '= null, != null, or a path into it'
    throw QueryErrors.COMPARATOR(SPELLING[comparator], path.text, 'a relation', usable)
  }
  if (target.kind === 'storage' && target.vector) {
    return { relations, leaf: bindSimilarity(path.text, target, comparator, value) }
  }
  if (target.type === 'object' && path.elements.length > 0) {
    return { relations, leaf: bindJson(path, target, comparator, value, limits) }
  }
  if (!isScalarType(target.type)) {
    const usable = target.type === 'object' ? '= null, != null, or the path of a property' : '= null or != null'
    throw QueryErrors.COMPARATOR(SPELLING[comparator], path.text, TYPE_NAME[target.type], usable)
  }
  const comparand: Comparand = { path: path.text, type: target.type, parameters: target }
  const type = TYPES[target.type].comparison
  if (isTextual(comparator) && type !== 'text') {
    throw QueryErrors.COMPARATOR(SPELLING[comparator], path.text, `of type ${target.type}`, '= != < <= > >= or in')
  }
  const operands = operandsOf(path, comparator, value)
  const values = operands.map(operand => convertValue(operand, comparand))
  if (path.isKey && isExactText(target) && EQUALITY.has(comparator)) {
    return { relations, leaf: bindIdentity(target, comparator, operands.map(textOf), path.text, limits) }
  }
  const test = bindTest(comparator, type, values, path.text, limits)
  return { relations, leaf: { kind: 'test', attribute: target, test, negated: isNegative(comparator) } }
}

/** @throws {QueryErrors.NOT_SEARCHABLE} when the attribute has no code @throws {Suspended} when its code is not in this thread */
function requireCode(attribute: CalculatedAttribute, path: ResolvedPath): void {
  if (!attribute.calculation) throw QueryErrors.NOT_SEARCHABLE(path.text, 'calculated, without code to search it')
  codeOf(attribute)
}

const EQUALITY: ReadonlySet<Comparator> = new Set(['equal', 'notEqual', 'is', 'isNot', 'in'])

/**
 * Condition that a text is exactly one of some texts, or none of them. Texts with wildcards are patterns.
 * @param comparator one for equality
 */
function bindIdentity(
  attribute: StorageAttribute,
  comparator: Comparator,
  texts: readonly string[],
  path: string,
  limits: TextLimits,
): Predicate {
  const takesWildcards = comparator !== 'is' && comparator !== 'isNot'
  const [patterns, exact] = [true, false].map(isPattern =>
    texts.filter(text => (takesWildcards && text.includes('@')) === isPattern),
  ) as [string[], string[]]
  const negated = isNegative(comparator)
  const inputs: Predicate[] = exact.length > 0 ? [{ kind: 'identity', attribute, texts: exact, negated }] : []
  if (patterns.length > 0 || inputs.length === 0) {
    const test = bindTest(comparator, 'text', patterns.map(fold), path, limits)
    inputs.push({ kind: 'test', attribute, test, negated })
  }
  return combine('or', inputs)
}

const TYPE_NAME = { object: 'an object', vector: 'a vector', image: 'an image', blob: 'a blob' }

/** Binds `attribute = null`, `relation = null`, and their opposites, whose result is never unknown. */
function bindNull(path: ResolvedPath, target: ValueAttribute | RelationAttribute, comparator: Comparator): Condition {
  if (!EQUALITY.has(comparator) || comparator === 'in') {
    throw QueryErrors.COMPARATOR(SPELLING[comparator], path.text, 'compared with null', '= or !=')
  }
  const { relations } = path
  const negated = isNegative(comparator)
  if (target.kind === 'relatedEntities') {
    const some: Predicate = { kind: 'some', relation: target, input: ALWAYS }
    return { relations, leaf: negated ? some : { kind: 'complement', input: some } }
  }
  if (!isRelation(target) && path.elements.length > 0) {
    const test: JsonTest = { kind: 'isNull', negated }
    return {
      relations,
      leaf: { kind: 'elements', attribute: target, elements: path.elements, test, everyElement: negated },
    }
  }
  return { relations, leaf: { kind: 'isNull', attribute: target, negated } }
}

function bindJson(
  path: ResolvedPath,
  attribute: ValueAttribute,
  comparator: Comparator,
  value: Operand | { kind: 'list'; items: readonly Operand[] },
  limits: TextLimits,
): JsonCondition {
  const typeName = declaredType(path, attribute)
  const read = (operand: Operand): { type: JsonType; value: ComparisonScalar } => {
    if (isTextual(comparator)) return { type: 'text', value: convertToText(operand) }
    if (typeName === undefined) return convertForJson(operand, path.text)
    if (TYPES[typeName].comparison === 'text') return { type: 'text', value: convertToText(operand) }
    const comparand: Comparand = { path: path.text, type: typeName, parameters: parametersOf() }
    return { type: TYPES[typeName].comparison, value: convertValue(operand, comparand) }
  }
  const negated = isNegative(comparator)
  const values = new Map<JsonType, ComparisonScalar[]>()
  for (const operand of operandsOf(path, comparator, value)) {
    const { type, value: scalar } = read(operand)
    const sameType = values.get(type)
    if (sameType) sameType.push(scalar)
    else values.set(type, [scalar])
  }
  const tests = [...values].map(
    ([type, scalars]): JsonTest => ({
      kind: 'value',
      type,
      test: bindTest(comparator, type, scalars, path.text, limits),
      negated,
    }),
  )
  return {
    kind: 'elements',
    attribute,
    elements: path.elements,
    test: tests.length > 0 ? combineTests('or', tests) : NO_VALUE,
    everyElement: negated,
  }
}

/** `in []`: nothing passes. */
const NO_VALUE: JsonTest = { kind: 'value', type: 'text', test: { kind: 'in', values: new Set() }, negated: false }

function declaredType({ elements }: ResolvedPath, attribute: ValueAttribute): PropertyType | undefined {
  const names = elements.map(element => (element.kind === 'property' ? element.name : '[]'))
  return attribute.properties.get(names.join('.'))?.type
}

function operandsOf(
  path: ResolvedPath,
  comparator: Comparator,
  value: Operand | { kind: 'list'; items: readonly Operand[] },
): readonly Operand[] {
  const takesList = comparator === 'in'
  if (value.kind === 'list') {
    if (!takesList)
      throw QueryErrors.VALUE('a list', path.text, `one value with ${SPELLING[comparator]}, or a list with in`)
    const bareNull = value.items.some(item => item.kind === 'literal' && !item.quoted && item.text === 'null')
    if (bareNull) throw QueryErrors.VALUE('a list that holds null', path.text, 'values in a list; add: or … = null')
    return value.items
  }
  if (value.kind === 'literal') {
    if (takesList) throw QueryErrors.VALUE('one value', path.text, 'a list with in: ["a","b"]')
    return [value]
  }
  if (takesList !== Array.isArray(value.value) && value.value !== null) {
    const description = Array.isArray(value.value) ? 'an array' : 'one value'
    throw QueryErrors.PLACEHOLDER_TYPE(
      value.name,
      description,
      takesList ? 'an array with in' : `one value with ${SPELLING[comparator]}`,
    )
  }
  if (!Array.isArray(value.value)) return [value]
  return value.value.map((item: unknown) => ({ kind: 'parameter', name: value.name, value: item }))
}
