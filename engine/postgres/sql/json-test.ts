import type { JsonTest } from '../../query/bind/predicate.ts'
import { isStorable, type Parameters } from './parameters.ts'
import { BOOLS } from './choose-form.ts'
import type { Domain } from './cut.ts'
import { aroundDouble } from './doubles.ts'
import { orderedTest } from './ordered-test.ts'
import { textTest } from './text-test.ts'

/** Things that the tests of one statement share. */
export interface TestScope {
  readonly parameters: Parameters
  /** SQL of the fold of a text. */
  fold(text: string): string
  /** A new name for a table or a value in the statement. */
  alias(): string
}

/** SQL of a test of a JSON value, which may be null: true or false. @param json SQL of type `jsonb` */
export function jsonTest(json: string, test: JsonTest, scope: TestScope): string {
  switch (test.kind) {
    case 'value':
      return valueTest(json, test, scope)
    case 'isNull':
      return `${test.negated ? 'NOT ' : ''}${isNull(json)}`
    case 'property': {
      const alias = scope.alias()
      const names: string[] = []
      let inner: JsonTest = test
      for (; inner.kind === 'property'; inner = inner.input) names.push(inner.name)
      // A subquery, because the test may name the value more than once.
      return `(SELECT ${jsonTest(`${alias}.v`, inner, scope)} FROM (SELECT ${propertyAt(json, names, scope)} AS v) AS ${alias})`
    }
    case 'some': {
      const alias = scope.alias()
      return `EXISTS (SELECT FROM jsonb_array_elements(${arrayOf(json)}) AS ${alias} (v) WHERE ${jsonTest(`${alias}.v`, test.input, scope)})`
    }
    case 'every': {
      const alias = scope.alias()
      const inner = jsonTest(`${alias}.v`, test.input, scope)
      return `coalesce((SELECT bool_and(${inner}) FROM jsonb_array_elements(${arrayOf(json)}) AS ${alias} (v)), false)`
    }
    case 'and':
    case 'or':
      return `(${test.inputs.map(input => jsonTest(json, input, scope)).join(test.kind === 'and' ? ' AND ' : ' OR ')})`
    case 'not':
      return `NOT ${jsonTest(json, test.input, scope)}`
  }
}

const isNull = (json: string): string => `(${json} IS NULL OR jsonb_typeof(${json}) = 'null')`
const arrayOf = (json: string): string => `CASE WHEN jsonb_typeof(${json}) = 'array' THEN ${json} ELSE '[]' END`

/** SQL of the value at the end of a path of properties: of objects, of elements of arrays, and of their lengths. */
export function propertyAt(
  json: string,
  names: readonly string[],
  scope: Pick<TestScope, 'parameters' | 'alias'>,
): string {
  if (!names.every(isStorable)) return 'NULL::jsonb'
  const { add, list } = scope.parameters
  const special = names.findIndex(isSpecial)
  const end = special < 0 ? names.length : special
  const value = end === 0 ? json : `(${json} #> ${list(names.slice(0, end), 'text')})`
  if (special < 0) return value
  const alias = scope.alias()
  const column = `${alias}.v`
  const name = names[special]!
  const ofArray = name === 'length' ? `to_jsonb(jsonb_array_length(${column}))` : 'NULL'
  const property = `CASE jsonb_typeof(${column}) WHEN 'object' THEN ${column} -> ${add(name, 'text')} WHEN 'array' THEN ${ofArray} END`
  // OFFSET keeps the planner from substituting the value for each use of its name.
  const one = `(SELECT ${property} FROM (SELECT ${value} AS v OFFSET 0) AS ${alias})`
  return propertyAt(one, names.slice(special + 1), scope)
}

/** True for names that `#>` finds in arrays but JavaScript does not, and for `length`, which `#>` does not find. */
const isSpecial = (name: string): boolean =>
  name === 'length' || (/^\s*[+-]?\d+$/.test(name) && !/^(?:0|[1-9]\d*)$/.test(name))

const TYPE_NAMES = { number: 'number', text: 'string', bool: 'boolean' } as const

function valueTest(json: string, { type, test, negated }: JsonTest & { kind: 'value' }, scope: TestScope): string {
  const { parameters } = scope
  const inner =
    type === 'text'
      ? textTest(() => scope.fold(`(${json} #>> '{}')`), test, parameters)
      : type === 'number'
        ? orderedTest(NUMBERS, `(${json})::numeric`, test, parameters)
        : orderedTest(BOOLS, `(${json})::bool`, test, parameters)
  const passes = `CASE WHEN jsonb_typeof(${json}) = '${TYPE_NAMES[type]}' THEN ${inner} ELSE false END`
  return negated ? `(NOT ${isNull(json)} AND NOT ${passes})` : `coalesce(${passes}, false)`
}

/** Numbers inside of JSON are read as doubles. */
const NUMBERS: Domain = { type: 'numeric', around: value => aroundDouble(value as number | bigint) }
