import { defineErrors, errorsWith } from '../../base/errors.ts'

/** Errors of aggregation. Source: protocol notes, 5.9 and 6.6; statuses by the design decisions. */
export const AggregateErrors = defineErrors('AGGREGATE', {
  ...errorsWith({ errCode: 1816, http: 400 })({
    ATTRIBUTE_NEEDED: (dataClass: string) =>
      `name an attribute with scalar values in the address: /rest/${dataClass}/attribute`,
  }),
  ...errorsWith({ errCode: 1817, http: 400, namesAttribute: 1 })({
    NOT_APPLICABLE: (what: string, path: string, type: string, usable: string) =>
      `${what} does not apply to "${path}", which is ${type}; use ${usable}`,
  }),
  ...errorsWith({ errCode: 1817, http: 400, namesAttribute: 0 })({
    NO_VALUES: (path: string, problem: string) => `"${path}" has no values to aggregate: ${problem}`,
  }),
})
