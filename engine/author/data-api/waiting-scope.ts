import { codeContext } from '../declare/running-call.ts'
import type { CallOptions } from './call-scope.ts'
import type { CodeSession } from './code-session.ts'

/** A call whose code waits, and the code session that it belongs to. */
export interface WaitingScope {
  readonly codeSession: CodeSession
  readonly options: CallOptions
}

/** The call of code that runs after an await; undefined if it has ended. */
export function waitingScope(): WaitingScope | undefined {
  const { call, data, revoked } = codeContext() ?? {}
  return !call || call.hasEnded || revoked?.is ? undefined : (data as WaitingScope | undefined)
}
