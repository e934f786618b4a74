/** Sessions without a server, with a clock that a test moves. Source: protocol notes, 8.1 and 8.5. */
import t from 'tap'
import type { User } from '../../../../kernel/auth/user.ts'
import type { SessionOptions } from '../../../../kernel/session/session-options.ts'
import { type OnSessionEnd, Sessions } from '../../../../kernel/session/sessions.ts'
import type { Session } from '../../../../kernel/session/session.ts'
import { Client } from '../../../../kernel/transport/client.ts'
import { MemoryRecords } from '../../../support/base/memory-records.ts'

export const MINUTE = 60_000

const OPTIONS: SessionOptions = {
  basePath: '',
  cookieName: 'sid',
  sameSite: 'lax',
  idleMinutes: 60,
  maxIdleMinutes: 600,
  lifetimeHours: 100,
  perUser: 3,
  guestsPerAddress: 3,
  maxGuests: 5,
  keepGuestStorage: false,
  guestStorageBytes: 1000,
}
export const HR = { privileges: ['hr'], roles: [] }
export const user = (userName: string): User => ({ userName, groups: [], granted: HR })
export const peer = (address = '10.0.0.1') => ({ client: new Client(address, false, 'localhost', false) })

export async function open(
  options: Partial<SessionOptions> = {},
  records = new MemoryRecords(),
  now = 1_800_000_000_000,
) {
  const clock = { now }
  const errors: string[] = []
  const ends: string[] = []
  const sessions = await Sessions.open({ ...OPTIONS, ...options }, records.asServerRecords, {
    now: () => clock.now,
    onInternalError: text => errors.push(text),
  })
  t.teardown(() => sessions.close())
  const onEnd: OnSessionEnd = handle => void ends.push(handle)
  sessions.onEnd(onEnd)
  /** The session behind a cookie; undefined if the id is not valid. */
  const find = (id: string | undefined, address?: string): Session | undefined => {
    const { session, receivedId } = sessions.find(`sid=${id}`, peer(address))
    return receivedId === undefined ? undefined : session
  }
  const userOf = (id: string | undefined): string | undefined => find(id)?.userName
  /** A guest with stored data. */
  const keptGuest = async (address?: string): Promise<Session> => {
    const session = sessions.guest(peer(address))
    session.record.storage = { cart: [address ?? ''] }
    await sessions.keep(session)
    return session
  }
  const login = (name: string, session = sessions.guest(peer())) => sessions.renew(session, user(name), HR, peer())
  const stored = () => records.keys('session/').length
  return { sessions, records, clock, errors, ends, find, userOf, keptGuest, login, stored }
}
