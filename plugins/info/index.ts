import {
  DONE,
  definePlugin,
  type Metrics,
  type PluginEngine,
  type QuotaReport,
  json,
  type Reply,
  type RestRequest,
  type Sessions,
  type ServiceSpec,
  type OperationSpec,
} from '../../kernel/api.ts'
import { InfoErrors } from './errors.ts'

/**
 * State of the server, for its administrators: with roles, clients with the privilege `WebAdmin`; without roles, every client that has
 * logged in (`auth.guestsAdministrate` adds guests).
 *
 *   GET  /$info                               →  the parts below that the protocol defines, in one object
 *   GET  /$info/cacheInfo                     →  { "cacheSize": 2147483648, "usedCache": 871000000 }, bytes
 *   GET  /$info/entitySet                     →  { "entitySetCount": 1, "entitySet": [{ id, dataClass, selectionSize, … }] }
 *   GET  /$info/progressInfo                  →  { "ProgressInfo": [] }
 *   GET  /$info/sessionInfo                   →  { "sessionInfo": [{ sessionID, userName, lifeTime, expiration }],
 *                                                "currentSession": "…" }, the latter is the session of the request
 *   GET  /$info/metrics                       →  { "metrics": [{ name, help, type, values: [{ labels, value }] }] }
 *   GET  /$info/locks                         →  { "lockCount": 1, "locks": [{ dataClass, __KEY, sessionID, lockInfo, expires }] };
 *                                                `expires` is absent if the lock lasts until the session ends
 *   GET  /$info/quotas                        →  { "limits": { … }, "sessions": [{ sessionID, requests, cost }],
 *                                                "addresses": [{ address, requests, cost, concurrent }] }, for the current minute
 *   GET  /$info/roles                         →  { "hasRoles": true, "restrictedByDefault": false, "forceLogin": false,
 *                                                "roles": [{ role, privileges }], "privileges": [{ privilege, includes }] }
 *   GET  /$info/rights[/role/x|/privilege/x]  →  { "privileges": [{ privilege, by }], "rightCount": 2,
 *                                                "rights": [{ type, name, read: { allowed, setting, needed, by }, … }] }; what
 *                                                a guest may do, or a client with that role or privilege, and why
 *   POST /$info/sessionInfo/release[/id,id]   →  { "ok": true }; ends these sessions, without ids all of them
 *
 * `sessionID` is a handle and never the content of the cookie; `lifeTime` is in seconds without a request. Lists have at most 1,000
 * elements. Source: protocol notes, 8.7.
 */
export default definePlugin({
  name: 'info',
  kernel: '^1.0.0',
  register({ service, engine, sessions, quota, metrics }) {
    const parts: Readonly<Record<string, (request: RestRequest) => object | Promise<object>>> = {
      cacheInfo: () => cacheInfo(engine),
      entitySet: () => entitySetInfo(engine),
      progressInfo: () => ({ ProgressInfo: [] }),
      sessionInfo: async ({ session }) => ({
        sessionInfo: await sessionInfo(sessions),
        currentSession: session.handle,
      }),
    }
    /** Parts that are extensions of Tesser: not included in the whole, which clients of the protocol request. */
    const ownParts: Readonly<Record<string, () => Reply | Promise<Reply>>> = {
      metrics: () => metricsInfo(metrics),
      locks: () => locksInfo(engine),
      quotas: () => json(quotaInfo(quota.report(LIMIT))),
      roles: () => json(rolesInfo(engine)),
    }
    const describeAll = async (request: RestRequest): Promise<object> => ({
      ...Object.assign({}, ...(await Promise.all(Object.values(parts).map(part => part(request))))),
      privileges: { privileges: request.callerSession.data.privileges.map(privilege => ({ privilege })) },
    })

    service('$info', INFO, async request => {
      const [name = '', command, ids] = request.parts
      if (name === 'sessionInfo' && command === 'release') return release(request, ids, sessions)
      if (name === 'rights') return json(rightsInfo(engine, request.parts.slice(1)))
      if (Object.hasOwn(ownParts, name) && command === undefined) return ownParts[name]!()
      if (name !== '' && (!Object.hasOwn(parts, name) || command !== undefined)) {
        const knownParts = [...Object.keys(parts), ...Object.keys(ownParts), 'rights']
        throw InfoErrors.UNKNOWN_PART(request.parts.join('/').slice(0, 100), knownParts)
      }
      return json(await (name === '' ? describeAll(request) : parts[name]!(request)))
    })
  },
})

const part = (doc: string, name: string): OperationSpec => ({ id: `info.${name}`, doc })

const INFO: ServiceSpec = {
  verbs: ['GET', 'POST'],
  administrators: true,
  doc: 'State of the server.',
  section: 'protocol',
  tag: 'server',
  operations: {
    'GET /': { id: 'info', doc: 'Memory, entity sets, progress and sessions, and your privileges' },
    'GET /cacheInfo': part('Memory for data, and how much of it is used', 'cacheInfo'),
    'GET /entitySet': part('Entity sets', 'entitySet'),
    'GET /progressInfo': part('An empty list', 'progressInfo'),
    'GET /sessionInfo': part('Sessions, and the session of the request', 'sessionInfo'),
    'GET /metrics': part('Metrics of the server, as Prometheus receives them', 'metrics'),
    'GET /locks': part('Locks on entities, with the sessions that hold the locks', 'locks'),
    'GET /quotas': part('Request quotas, and their use by sessions and addresses in the current minute', 'quotas'),
    'GET /roles': part('Roles and privileges of `roles.json`', 'roles'),
    'GET /rights': part(
      'Rights of a guest, with the reasons; `rights/role/x` and `rights/privilege/x` show the rights of a role or a privilege',
      'rights',
    ),
    'POST /sessionInfo/release': {
      id: 'releaseSessions',
      doc: 'Ends all sessions; `release/id,id` ends only the sessions with these ids',
      answers: { 200: DONE },
    },
  },
}

const LIMIT = 1_000

function cacheInfo(engine: PluginEngine): object {
  const usedBytes = Object.values(engine.memoryUse() ?? {})
  return { cacheSize: engine.memoryBytes, usedCache: usedBytes.reduce((sum, bytes) => sum + bytes, 0) }
}

async function entitySetInfo({ catalog, entitySets }: PluginEngine): Promise<object> {
  const names = new Map(catalog.dataClasses.map(({ tableNumber, name }) => [tableNumber, name]))
  const { count, sets } = await entitySets.list(LIMIT)
  const entitySet = sets.map(({ id, tableNumber, size, isOrdered, timeoutSeconds, expires }) => ({
    id,
    dataClass: names.get(tableNumber) ?? '',
    selectionSize: size,
    sorted: isOrdered,
    refreshed: new Date(expires - timeoutSeconds * 1000).toISOString(),
    expires: new Date(expires).toISOString(),
  }))
  return { entitySetCount: count, entitySet }
}

const sessionInfo = async (sessions: Sessions): Promise<object[]> =>
  (await sessions.list(LIMIT)).map(({ handle, record }) => ({
    sessionID: handle,
    userName: record.user?.userName ?? '',
    lifeTime: record.idleMinutes * 60,
    expiration: new Date(record.expires).toISOString(),
  }))

/** Metrics in the same form as for Prometheus: see the plugin `metrics`. */
const metricsInfo = async (metrics: Metrics): Promise<Reply> => json({ metrics: await metrics.read() })

async function locksInfo(engine: PluginEngine): Promise<Reply> {
  const { count, locks } = await engine.listLocks(LIMIT)
  return json({
    lockCount: count,
    locks: locks.map(({ dataClass, key, owner, info, expires }) => ({
      dataClass,
      __KEY: key,
      sessionID: owner,
      lockInfo: info,
      ...(expires !== undefined && { expires: new Date(expires).toISOString() }),
    })),
  })
}

const quotaInfo = ({ limits, sessions, addresses }: QuotaReport): object => ({
  limits,
  sessions: sessions.map(({ name, ...use }) => ({ sessionID: name, ...use })),
  addresses: addresses.map(({ name, ...use }) => ({ address: name, ...use })),
})

function rolesInfo(engine: PluginEngine): object {
  const declaredRoles = engine.declaredRoles()
  if (!declaredRoles) return { hasRoles: false }
  const { roles, privileges, ...defaults } = declaredRoles
  return { hasRoles: true, ...defaults, roles: roles.slice(0, LIMIT), privileges: privileges.slice(0, LIMIT) }
}

function rightsInfo(engine: PluginEngine, [kind, name, ...more]: readonly string[]): object {
  const { roles = [], privileges = [] } = engine.declaredRoles() ?? {}
  const isKnown =
    more.length === 0 &&
    (kind === undefined ||
      (kind === 'role' && roles.some(({ role }) => role === name)) ||
      (kind === 'privilege' && privileges.some(({ privilege }) => privilege === name)))
  if (!isKnown) throw InfoErrors.UNKNOWN_GRANT([kind, name, ...more].join('/').slice(0, 100))
  const explanation = engine.explainRights({
    roles: kind === 'role' ? [name!] : [],
    privileges: kind === 'privilege' ? [name!] : [],
  })
  if (!explanation) return { hasRoles: false }
  let rightCount = 0
  const rights: object[] = []
  for (const right of explanation.rights) if (++rightCount <= LIMIT) rights.push(right)
  return { hasRoles: true, privileges: explanation.privileges, rightCount, rights }
}

async function release({ verb }: RestRequest, ids: string | undefined, sessions: Sessions): Promise<Reply> {
  // A link on another site's page must not be able to log every user out.
  if (verb !== 'POST') throw InfoErrors.RELEASE_VERB(verb)
  const handles = ids === undefined ? undefined : new Set(ids.split(','))
  await sessions.endAll((_record, handle) => !handles || handles.has(handle))
  return json({ ok: true })
}
