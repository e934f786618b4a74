import type { ValueTest } from '../../query/bind/predicate.ts'
import { compare, compareAny, type Domain, presenceTest } from './cut.ts'
import type { Parameters } from './parameters.ts'

/** True for tests of the content of texts. */
export const isTextual = (test: ValueTest): boolean =>
  test.kind === 'pattern' || test.kind === 'keyword' || (test.kind === 'anyOf' && test.tests.some(isTextual))

/** SQL of a test of values in an order; false or null for null. @param column SQL of the value */
export function orderedTest(domain: Domain, column: string, test: ValueTest, parameters: Parameters): string {
  const { add } = parameters
  switch (test.kind) {
    case 'any':
      return presenceTest(domain, column)
    case 'equal':
      return compareAny(domain, column, [test.value], add)
    case 'in':
      return compareAny(domain, column, test.values, add)
    case 'range': {
      const { lower, upper } = test
      const bounds = [
        lower && compare(domain, column, lower.inclusive ? '>=' : '>', lower.value, add),
        upper && compare(domain, column, upper.inclusive ? '<=' : '<', upper.value, add),
      ].filter(each => each !== undefined)
      return bounds.length === 0 ? presenceTest(domain, column) : `(${bounds.join(' AND ')})`
    }
    case 'anyOf':
      return `(${test.tests.map(each => orderedTest(domain, column, each, parameters)).join(' OR ')})`
    case 'pattern':
    case 'keyword':
      return 'false'
  }
}
