import { defineErrors } from '../../base/errors.ts'

/** Errors of aggregation. Source: protocol notes, 5.9 and 6.6; statuses by the design decisions. */
export const AggregateErrors = defineErrors('AGGREGATE', {
  ATTRIBUTE_NEEDED: {
    errCode: 1816,
    http: 400,
    message: (dataClass: string) => `name an attribute with scalar values in the address: /rest/${dataClass}/attribute`,
  },
  NOT_APPLICABLE: {
    errCode: 1817,
    http: 400,
    namesAttribute: 1,
    message: (what: string, path: string, type: string, usable: string) =>
      `${what} does not apply to "${path}", which is ${type}; use ${usable}`,
  },
  NO_VALUES: {
    errCode: 1817,
    http: 400,
    namesAttribute: 0,
    message: (path: string, problem: string) => `"${path}" has no values to aggregate: ${problem}`,
  },
})
