import type { CallSession } from '../declare/author-types.ts'
import { LanguageErrors } from './language-errors.ts'

/**
 * `Session` of code that does not run for a request: empty and like that of a guest, so that code that asks for a user or a privilege finds
 * none. Operations that need a session throw. Unlike on a server of 4D, it does not have all rights, because routes of plugins call such
 * code for their clients.
 */
export class NoSession implements CallSession {
  readonly id = ''
  readonly userName = ''
  readonly expirationDate = ''
  /** Discarded after the call. */
  readonly storage: Record<string, unknown> = Object.create(null) as Record<string, unknown>
  readonly quotas: CallSession['quotas'] = Object.freeze({
    defaultEntitySetTimeout: undefined,
    maxEntitySetTimeout: undefined,
    nbEntitySets: undefined,
    currentValues: Object.freeze({ nbEntitySets: 0 }),
  })
  private promotions = 0

  constructor(private readonly isOfServer: boolean) {}

  get idleTimeout(): number {
    return 0
  }

  set idleTimeout(_: number) {
    throw LanguageErrors.NO_SESSION('idleTimeout')
  }

  isServer(): boolean {
    return this.isOfServer
  }

  isGuest(): boolean {
    return true
  }

  setPrivileges(): boolean {
    throw LanguageErrors.NO_SESSION('setPrivileges')
  }

  clearPrivileges(): boolean {
    return true
  }

  getPrivileges(): string[] {
    return []
  }

  hasPrivilege(): boolean {
    return false
  }

  promote(): number {
    return ++this.promotions
  }

  demote(): void {}

  createOTP(): string {
    throw LanguageErrors.NO_SESSION('createOTP')
  }

  restore(): boolean {
    return false
  }
}
