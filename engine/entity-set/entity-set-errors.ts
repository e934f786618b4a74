import { defineErrors } from '../base/errors.ts'
import { excerpt } from '../base/text/excerpt.ts'

/** Errors of entity sets. Source: protocol notes, 5.9 and 6; statuses by the design decisions. */
export const EntitySetErrors = defineErrors('ENTITY_SET', {
  /** The set was never made, was released, or has not been used for longer than its timeout. */
  UNKNOWN_SET: {
    errCode: 1802,
    http: 404,
    message: (id: string) =>
      `entity set "${excerpt(id)}" cannot be found: it has expired or never existed; make it again with $method=entityset`,
  },
  OTHER_CLASS: {
    errCode: 1803,
    http: 404,
    message: (id: string, dataClass: string) => `set "${id}" belongs to another class than "${dataClass}"`,
  },
  /** For `$otherCollection`. */
  INVALID_REFERENCE: {
    errCode: 1820,
    http: 400,
    message: (reference: string, problem: string) =>
      `"${excerpt(reference)}" is not a valid collection reference: ${problem}`,
  },
  INCOMPATIBLE_CLASSES: {
    errCode: 1587,
    http: 400,
    message: (id: string, dataClass: string) =>
      `sets of different classes cannot be combined: "${id}" is not one of "${dataClass}"`,
  },
  TIMEOUT: {
    errCode: 1806,
    http: 400,
    message: (received: string) =>
      `$timeout=${excerpt(received)} is not a valid lifetime; send a whole number of seconds, 1 or more`,
  },
  TOO_MANY_SETS: {
    errCode: 1200,
    http: 429,
    message: (limit: number) =>
      `this session has ${limit} entity sets, which is its quota; release some with $method=release, or wait for them to expire`,
  },
  /** A single set of a guest is too large. */
  TOO_LARGE: {
    errCode: 1200,
    http: 413,
    message: (bytes: number, limit: number) =>
      `this entity set takes ${bytes} bytes, and all those of guests of your network may take ${limit}; log in, or select fewer entities`,
  },
  /** Sets are made faster than the writer can store them. */
  TOO_MUCH_UNSAVED: {
    errCode: 1046,
    http: 503,
    message: (bytes: number) =>
      `${bytes} bytes of entity sets wait to be stored, which is the limit; try again in a moment`,
  },
})
