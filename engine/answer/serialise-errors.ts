import { defineErrors, errorsWith, ProtocolError } from '../base/errors.ts'

/** Errors about requested attributes and about answers. Source: protocol notes, 5.8 and 5.9. */
export const SerialiseErrors = defineErrors('SERIALISE', {
  ...errorsWith({ errCode: 1500, http: 404, namesAttribute: 0 })({
    /** Also raised for attributes that are not exposed: they behave as if they did not exist. */
    UNKNOWN_ATTRIBUTE: (name: string, dataClass: string, hint: string) =>
      `there is no attribute "${shorten(name)}" in ${dataClass}${hint}`,
    NOT_A_PATH: (name: string, dataClass: string) =>
      `"${name}" of ${dataClass} is neither a relation nor an object: no name can follow it`,
    NOT_EXPANDABLE: (name: string, dataClass: string, reason: string) =>
      `"${name}" of ${dataClass} cannot be expanded: ${reason}`,
  }),
  ...errorsWith({ errCode: 1500, http: 404 })({
    NO_SCORE: () => 'there is no "__SCORE": the filter has no condition on a vector of the dataclass',
  }),
  ...errorsWith({ errCode: 1200, http: 400 })({
    PATH_TOO_LONG: (steps: number, limit: number) =>
      `an attribute path has ${steps} steps, at most ${limit} are allowed`,
    EXPAND_TOO_DEEP: (limit: number) =>
      `the request expands relations deeper than ${limit} levels (query.maxExpandDepth)`,
    TOO_MANY_RELATIONS: (limit: number) => `the request expands more than ${limit} relations; name fewer of them`,
  }),
  ...errorsWith({ errCode: 1543, http: 404 })({
    /** Sent instead of an entity when the selection that should contain one is empty. */
    NO_ENTITY: (dataClass: string) => `there is no such entity in ${dataClass}`,
  }),
  ...errorsWith({ errCode: 1200, http: 413 })({
    ANSWER_TOO_LARGE: (limitBytes: number) =>
      `the answer is larger than ${limitBytes} bytes (query.maxAnswerBytes); ask for fewer entities ($top), attributes or expanded relations`,
  }),
})

/** Shortens a text from a client, so that a message stays readable. */
function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text
}

/** True for {@link SerialiseErrors.ANSWER_TOO_LARGE}. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof ProtocolError && error.name === 'SERIALISE.ANSWER_TOO_LARGE'
