import type { ProtocolError } from '../../base/errors.ts'

/**
 * A fault of plugin code that has used the data API with a name, a text or a value that cannot be. The log has the message, which may
 * name what a client may not see; the client learns only that the code has failed.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'

  /** @param cause what a client would have been told, had the text been the client's */
  constructor(message: string, cause?: ProtocolError) {
    super(message, cause && { cause })
  }
}

/** The faults that no error of the protocol describes. */
export const UsageErrors = {
  /** Assigned to an entity, where a typing error would go unnoticed. */
  unknownAttribute: (name: string, dataClass: string, hint: string) =>
    new UsageError(`no attribute "${name}" in ${dataClass}${hint}`),
  notARelation: (name: string, dataClass: string) => new UsageError(`"${name}" is not a relation of ${dataClass}`),
  wrongEntity: (relation: string, received: string, expected: string) =>
    new UsageError(`${relation} cannot be ${received}; a saved entity of ${expected}, {"__KEY":…} or null is expected`),
  incompatible: (received: string, expected: string) =>
    new UsageError(`${received} does not fit; ${expected} is expected`),
  badResult: (attribute: string, problem: string, cause?: ProtocolError) =>
    new UsageError(`the code of "${attribute}" ${problem}${cause ? `: ${cause.message}` : ''}`, cause),
}
