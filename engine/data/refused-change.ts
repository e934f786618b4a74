import type { ProtocolError } from '../base/errors.ts'

/** A change of one entity that a transaction refuses because of rules that only a database knows. Never leaves the engine. */
export class RefusedChange extends Error {
  override readonly name = 'RefusedChange'

  constructor(readonly problems: readonly ProtocolError[]) {
    super()
  }
}
