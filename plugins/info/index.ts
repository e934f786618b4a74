import { definePlugin, type Engine, json, type Reply, type RestRequest, type Sessions } from '../../kernel/api.ts'
import { InfoErrors } from './errors.ts'

/**
 * What the server has in memory: for those who look after it.
 *
 *   GET  /$info                               →  all of the following in one object
 *   GET  /$info/cacheInfo                     →  { "cacheSize": 2147483648, "usedCache": 871000000 }, bytes
 *   GET  /$info/entitySet                     →  { "entitySetCount": 1, "entitySet": [{ id, dataClass, selectionSize, … }] }
 *   GET  /$info/progressInfo                  →  { "ProgressInfo": [] }
 *   GET  /$info/sessionInfo                   →  { "sessionInfo": [{ sessionID, userName, lifeTime, expiration }] }
 *   POST /$info/sessionInfo/release[/id,id]   →  { "ok": true }; these sessions end, without ids all of them
 *
 * `sessionID` is a handle and never what the cookie holds; `lifeTime` is in seconds without a request. Lists have at most
 * 1,000 elements. Source: protocol notes, 8.7.
 */
export default definePlugin({
  name: 'info',
  kernel: '^1.0.0',
  register({ service, engine, sessions }) {
    const parts: Readonly<Record<string, (request: RestRequest) => object>> = {
      cacheInfo: () => cacheInfo(engine),
      entitySet: () => entitySetInfo(engine),
      progressInfo: () => ({ ProgressInfo: [] }),
      sessionInfo: () => ({ sessionInfo: sessionInfo(sessions) }),
    }
    const whole = (request: RestRequest): object => ({
      ...Object.assign({}, ...Object.values(parts).map(part => part(request))),
      privileges: { privileges: engine.permissions.expand(request.session.granted).map(privilege => ({ privilege })) },
    })

    service('$info', { verbs: ['GET', 'POST'] }, request => {
      if (!engine.permissions.isAdministrator(request.session.granted)) throw InfoErrors.ADMINISTRATORS_ONLY()
      const [name = '', command, ids] = request.parts
      if (name === 'sessionInfo' && command === 'release') return release(request, ids, sessions)
      if (name !== '' && (!Object.hasOwn(parts, name) || command !== undefined)) {
        throw InfoErrors.UNKNOWN_PART(request.parts.join('/').slice(0, 100), Object.keys(parts))
      }
      return json(name === '' ? whole(request) : parts[name]!(request))
    })
  },
})

const LIMIT = 1_000

function cacheInfo(engine: Engine): object {
  const used = Object.values(engine.memoryUse() ?? {})
  return { cacheSize: engine.memoryBytes, usedCache: used.reduce((sum, bytes) => sum + bytes, 0) }
}

function entitySetInfo({ catalog, entitySets }: Engine): object {
  const names = new Map(catalog.dataClasses.map(({ tableNumber, name }) => [tableNumber, name]))
  const { count, sets } = entitySets.list(LIMIT)
  const entitySet = sets.map(({ id, tableNumber, members, timeoutSeconds, expires }) => ({
    id,
    dataClass: names.get(tableNumber) ?? '',
    selectionSize: 'size' in members ? members.size : members.length,
    sorted: !('size' in members),
    refreshed: new Date(expires - timeoutSeconds * 1000).toISOString(),
    expires: new Date(expires).toISOString(),
  }))
  return { entitySetCount: count, entitySet }
}

const sessionInfo = (sessions: Sessions): object[] =>
  sessions.list(LIMIT).map(({ handle, record }) => ({
    sessionID: handle,
    userName: record.user?.userName ?? '',
    lifeTime: record.idleMinutes * 60,
    expiration: new Date(record.expires).toISOString(),
  }))

async function release({ verb }: RestRequest, ids: string | undefined, sessions: Sessions): Promise<Reply> {
  // A link on somebody's page must not be able to log everybody out.
  if (verb !== 'POST') throw InfoErrors.RELEASE_VERB(verb)
  const wanted = ids === undefined ? undefined : new Set(ids.split(','))
  await sessions.endAll((_record, handle) => !wanted || wanted.has(handle))
  return json({ ok: true })
}
