import { definePlugin, json, type RestRequest, type CommandSpec } from '../../kernel/api.ts'
import { LockErrors } from './errors.ts'

/**
 * `$lock` locks an entity for the session of the request, or unlocks it. Other sessions can read it but not lock, unlock, change or delete
 * it.
 *
 *   POST /Employee(1)?$lock=true    →  { "result": true, "__STATUS": { "success": true } }
 *   POST /Employee(1)?$lock=true    →  { "result": false, "__STATUS": { "status": 3, "statusText": "Already Locked", … } }
 *   POST /Employee(1)?$lock=false   →  { "result": true, "__STATUS": { "success": true } }
 *
 * A lock ends with `$lock=false`, with its session, and with a restart of the server, except for entities in a database whose locks several
 * servers share. Requests with a key or a token have no session, so their locks end ten minutes after the last `$lock=true`. Source:
 * protocol notes, 8.8.
 */
export default definePlugin({
  name: 'lock',
  kernel: '^1.0.0',
  register({ command, engine, sessions }) {
    sessions.onEnd(owner => engine.freeLocks(owner))

    command('$lock', LOCK, async (request: RestRequest) => {
      request.refuseOtherPages()
      const value = request.parameter('$lock')!.toLowerCase()
      if (value !== 'true' && value !== 'false') throw LockErrors.NOT_BOOLEAN(value.slice(0, 100))
      if (!request.isEntity) throw LockErrors.NOT_AN_ENTITY()
      const { session, read, transport } = request
      const lock = value === 'true'
      const { result, status } = await engine.lock(read, lock, request.callerSession.data, transport)
      // The session must be kept until its end, which frees the lock.
      if (lock && result) await sessions.keep(session)
      return json({ result, __STATUS: status })
    })
  },
})

const LOCK: CommandSpec = {
  verbs: ['GET', 'POST'],
  schema: { type: 'boolean' },
  doc: 'Locks or unlocks the entity for the session.',
  example: true,
  on: ['lock'],
  required: true,
  section: 'protocol',
}
