import { defineErrors, errorsWith } from './errors.ts'

export const EngineErrors = defineErrors('ENGINE', {
  ...errorsWith({ errCode: 1800, http: 404 })({
    /** Also raised for dataclasses that exist but are not exposed: they behave as if they did not exist. */
    UNKNOWN_DATACLASS: (name: string, hint: string) => `the "${name}" datastore class cannot be found${hint}`,
  }),
  ...errorsWith({ errCode: 1121, http: 409 })({
    /** Follows the error of the first entity that could not be deleted, when a deletion of several entities has left some of them. */
    NOT_ALL_DELETED: (deleted: number, selected: number) =>
      `${deleted} of ${selected} entities were deleted, the others could not be`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    BAD_JSON: (reason: string) => `the body is not JSON: ${reason}`,
    NOT_AN_OBJECT: () =>
      'the body is not a JSON object; send an object of parameters, for example {"$filter":"salary > 20000"}',
    /** Raised for nonzero numbers that would become infinite or zero. */
    BEYOND_DOUBLES: (number: string) => `the body has the number ${number}; numbers are those of double precision`,
    TOO_DEEP: (levels: number) => `the body is nested deeper than ${levels} levels`,
    TOO_MANY_VALUES: (values: number) => `the body has more than ${values} values; send it in several requests`,
  }),
})
