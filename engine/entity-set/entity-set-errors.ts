import { defineErrors, errorsWith } from '../base/errors.ts'
import { excerpt } from '../base/text/excerpt.ts'

/** Errors of entity sets. Source: protocol notes, 5.9 and 6; statuses by the design decisions. */
export const EntitySetErrors = defineErrors('ENTITY_SET', {
  ...errorsWith({ errCode: 1802, http: 404 })({
    /** The set was never created, was released, or has not been used for longer than its timeout. */
    UNKNOWN_SET: (id: string) =>
      `entity set "${excerpt(id)}" cannot be found: it has expired or never existed; make it again with $method=entityset`,
  }),
  ...errorsWith({ errCode: 1803, http: 404 })({
    OTHER_CLASS: (id: string, dataClass: string) => `set "${id}" belongs to another class than "${dataClass}"`,
  }),
  ...errorsWith({ errCode: 1820, http: 400 })({
    /** `$otherCollection` is invalid. */
    INVALID_REFERENCE: (reference: string, problem: string) =>
      `"${excerpt(reference)}" is not a valid collection reference: ${problem}`,
  }),
  ...errorsWith({ errCode: 1587, http: 400 })({
    INCOMPATIBLE_CLASSES: (id: string, dataClass: string) =>
      `sets of different classes cannot be combined: "${id}" is not one of "${dataClass}"`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    TIMEOUT: (received: string) =>
      `$timeout=${excerpt(received)} is not a valid lifetime; send a whole number of seconds, 1 or more`,
  }),
  ...errorsWith({ errCode: 1200, http: 429 })({
    TOO_MANY_SETS: (limit: number) =>
      `this session has ${limit} entity sets, which is its quota; release some with $method=release, or wait for them to expire`,
  }),
  ...errorsWith({ errCode: 1200, http: 413 })({
    /** A single set of a guest is too large. */
    TOO_LARGE: (bytes: number, limit: number) =>
      `this entity set takes ${bytes} bytes, and all those of guests of your network may take ${limit}; log in, or select fewer entities`,
  }),
  ...errorsWith({ errCode: 1046, http: 503 })({
    /** Sets are created faster than the writer can store them. */
    TOO_MUCH_UNSAVED: (bytes: number) =>
      `${bytes} bytes of entity sets wait to be stored, which is the limit; try again in a moment`,
  }),
})
