import { definePlugin, json, lockStatus, type RestRequest, TOKEN_LOCK_MS } from '../../kernel/api.ts'
import { LockErrors } from './errors.ts'

/**
 * `$lock` locks an entity for the session that asks, or unlocks it. Other sessions can read it but not lock, unlock,
 * change or delete it.
 *
 *   POST /Employee(1)?$lock=true    →  { "result": true, "__STATUS": { "success": true } }
 *   POST /Employee(1)?$lock=true    →  { "result": false, "__STATUS": { "status": 3, "statusText": "Already Locked", … } }
 *   POST /Employee(1)?$lock=false   →  { "result": true, "__STATUS": { "success": true } }
 *
 * A lock ends with `$lock=false`, with its session, and with a restart of the server. Requests with a key or a token have
 * no session that could end, so their locks end after ten minutes, from the last `$lock=true` on.
 * Source: protocol notes, 8.8.
 */
export default definePlugin({
  name: 'lock',
  kernel: '^1.0.0',
  register({ command, engine, sessions }) {
    sessions.onEnd(owner => engine.freeLocks(owner))

    command('$lock', { verbs: ['GET', 'POST'] }, async (request: RestRequest) => {
      const wanted = request.parameter('$lock')!.toLowerCase()
      if (wanted !== 'true' && wanted !== 'false') throw LockErrors.NOT_BOOLEAN(wanted.slice(0, 100))
      if (!request.isEntity) throw LockErrors.NOT_AN_ENTITY()
      const { session, transport } = request
      const info = {
        host: transport.header('host'),
        IPAddr: transport.remoteAddress,
        userAgent: transport.header('user-agent').slice(0, 500),
      }
      const lastsMs = session.isOfToken ? TOKEN_LOCK_MS : undefined
      const lock = wanted === 'true'
      const holder = { owner: session.handle, info, lastsMs }
      const { result, wasNotLocked, blocker } = await engine.lock(request.read, { lock, holder }, request.transport)
      // It must not be forgotten before its end, which frees the lock.
      if (lock && result) await sessions.keep(session)
      if (blocker) return json({ result, __STATUS: { success: false, ...lockStatus(blocker) } })
      return json({ result, __STATUS: { success: true, ...(wasNotLocked && { wasNotLocked }) } })
    })
  },
})
