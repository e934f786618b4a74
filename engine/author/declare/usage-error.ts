import type { ProtocolError } from '../../base/errors.ts'

/**
 * Error of plugin code that has used the data API with an invalid name, text or value. The log has the message, which may name things that
 * a client may not see; the client learns only that the code has failed.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError'

  /** @param cause the error that a client would receive if it had sent the text */
  constructor(message: string, cause?: ProtocolError) {
    super(message, cause && { cause })
  }
}

/** The faults that no error of the protocol describes. */
export const UsageErrors = {
  /** An unknown attribute that is assigned to an entity: a typing error would otherwise go unnoticed. */
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
