import type { PropertyColumns, ValueAttribute } from '../../../catalog/attribute.ts'
import { columnsAt } from '../../../catalog/property-columns.ts'
import type { JsonTest, Predicate } from '../../bind/predicate.ts'
import { mapInputs, type Rule } from './rule.ts'

/**
 * Moves conditions on an indexed property to its columns, and to the objects themselves only for rows with a value of another
 * type than the declared one.
 *
 *   info.size > 5      →   [info.size] > 5
 *   info.size != 5     →   [info.size] != 5 or (of another type and info.size != 5)
 *   info.size = null   →   [info.size] is null and not of another type
 */
export const propertyColumns: Rule<Predicate> = { name: 'property-columns', apply }

function apply(predicate: Predicate): Predicate {
  if (predicate.kind !== 'json') return mapInputs(predicate, apply)
  return overColumns(predicate.attribute, predicate.test, []) ?? predicate
}

/** @param names path of the tested property @returns undefined when the property has no columns */
function overColumns(attribute: ValueAttribute, test: JsonTest, names: readonly string[]): Predicate | undefined {
  switch (test.kind) {
    case 'property':
      return overColumns(attribute, test.input, [...names, test.name])
    case 'and':
    case 'or': {
      const inputs = test.inputs.flatMap(input => overColumns(attribute, input, names) ?? [])
      return inputs.length === test.inputs.length ? { kind: test.kind, inputs } : undefined
    }
    case 'value':
    case 'isNull': {
      const columns = columnsAt(attribute, names)
      return columns && (test.kind === 'isNull' ? testNull(columns, test.negated) : testValue(columns, test))
    }
    default:
      return undefined
  }
}

const testNull = ({ values, others }: PropertyColumns, negated: boolean): Predicate => ({
  kind: negated ? 'or' : 'and',
  inputs: [values, others].map(attribute => ({ kind: 'isNull', attribute, negated })),
})

function testValue({ values, others }: PropertyColumns, condition: JsonTest & { kind: 'value' }): Predicate {
  const { names, type, object } = values.source!
  const { test, negated } = condition
  const ofType: Predicate = { kind: 'test', attribute: values, test, negated }
  // No value of another type is equal, less or greater.
  if (condition.type === type && !negated) return ofType
  const wholeTest = names.reduceRight<JsonTest>((input, name) => ({ kind: 'property', name, input }), condition)
  const ofOthers: Predicate = {
    kind: 'and',
    inputs: [
      { kind: 'isNull', attribute: others, negated: true },
      { kind: 'json', attribute: object, test: wholeTest },
    ],
  }
  if (condition.type === type) return { kind: 'or', inputs: [ofType, ofOthers] }
  return negated ? { kind: 'or', inputs: [{ kind: 'isNull', attribute: values, negated }, ofOthers] } : ofOthers
}
