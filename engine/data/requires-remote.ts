import { ProtocolError } from '../base/errors.ts'
import { RemoteErrors } from './remote-errors.ts'

/**
 * Stops a query that needs a database, in a thread that asks none. The query begins again in one that does; what cannot, fails with
 * this error.
 */
export class RequiresRemote extends ProtocolError {
  constructor(readonly dataClass: string) {
    super(RemoteErrors.NOT_HERE('this', dataClass).toData())
  }
}
