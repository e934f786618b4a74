import type { CallerSession, SessionChanges } from '../../engine/index.ts'
import type { User } from '../auth/user.ts'
import type { TransportRequest } from '../transport/transport.ts'
import { NOTHING_GRANTED, type Peer, type SessionRecord } from './session.ts'
import type { Sessions, Visit } from './sessions.ts'

/**
 * Session of a request for function code. Changes that the code makes to it are durable before the request is answered. Once the head of
 * the request is gone, less is known of the client.
 * @param privileges all privileges that the grants imply Source: protocol notes, 8.5.
 */
export function callerSession(
  sessions: Sessions,
  visit: Visit,
  transport: TransportRequest,
  privileges: readonly string[],
): CallerSession {
  const { session } = visit
  const { record, granted, handle, userName } = session
  const peer = { client: transport.client }
  const { storage, expires, idleMinutes, entitySets = {} } = record
  const client = {
    host: transport.client.host,
    IPAddr: transport.client.address,
    userAgent: headerOf(transport, 'user-agent').slice(0, 500),
  }
  return {
    data: {
      id: handle,
      userName,
      granted,
      privileges,
      storage,
      // A session of a key or a token does not expire here, but the value must be a valid date.
      expires: Math.min(expires, MAX_DATE),
      idleMinutes,
      entitySets,
      isOfToken: session.isOfToken,
      guestStorageBytes: sessions.options.guestStorageBytes,
      client,
    },
    guestNetwork: session.guestNetwork,
    change: changes => change(sessions, visit, changes, peer),
  }
}

/** A header of the request; empty when the head is gone, because the need for the code was found too late. */
function headerOf(transport: TransportRequest, name: string): string {
  try {
    return transport.header(name)
  } catch {
    return ''
  }
}

const MAX_DATE = 8_640_000_000_000_000

async function change(sessions: Sessions, visit: Visit, changes: SessionChanges, peer: Peer): Promise<void> {
  // Rights of a key or a token end with its request.
  if (visit.session.isOfToken) return
  visit.isChanged = true
  const { granted, storage, idleMinutes, entitySets, tokens = [], restored } = changes
  if (restored !== undefined) {
    visit.session = await sessions.restore(visit.session, restored)
    return
  }
  // Applied first, because the login can replace the session, and all other changes belong to the new one.
  if (granted) {
    const { userName, privileges, roles } = granted
    const rights = privileges.length + roles.length > 0 ? { privileges, roles } : NOTHING_GRANTED
    const user = userOf(userName, visit.session.user, rights)
    visit.session = await sessions.grant(visit.session, user, rights, peer)
    if (Object.keys(changes).length === 1) return
  }
  const apply = (record: SessionRecord): void => {
    // Merged by entry: if two calls run concurrently, the later one only replaces the entries that it has changed.
    if (storage) {
      record.storage = Object.fromEntries(
        Object.entries({ ...record.storage, ...storage }).filter(([, value]) => value !== undefined),
      )
    }
    if (entitySets) record.entitySets = entitySets
    if (idleMinutes !== undefined) sessions.setIdleMinutes(record, idleMinutes)
  }
  await sessions.update(visit.session, apply, tokens)
}

/** @param userName undefined: unchanged; empty: no user */
function userOf(userName: string | undefined, user: User | undefined, grants: User['granted']): User | undefined {
  if (userName === undefined) return user
  const entry = userName === user?.userName ? user.entry : undefined
  return userName === '' ? undefined : { userName, groups: [], granted: grants, entry }
}
