import { codeContext } from '../declare/running-call.ts'
import type { CallOptions } from './call-scope.ts'
import type { Language } from './language.ts'

/** A call whose code waits, and the language that it belongs to. */
export interface WaitingScope {
  readonly language: Language
  readonly options: CallOptions
}

/** The call of code that runs after an await; undefined if it has ended. */
export function waitingScope(): WaitingScope | undefined {
  const { call, data, revoked } = codeContext() ?? {}
  return !call || call.hasEnded || revoked?.is ? undefined : (data as WaitingScope | undefined)
}
