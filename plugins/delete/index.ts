import { definePlugin, expectedVersion, json, type Reply, type RestRequest, type MethodSpec } from '../../kernel/api.ts'
import { demandCondition, demandNoBody } from './condition.ts'
import { DeleteErrors } from './errors.ts'

/**
 * `$method=delete` deletes the entities that the address and the filter select; the verb DELETE means the same.
 *
 *   POST /Employee(1)?$method=delete                        →  { "ok": true }
 *   POST /Employee?$filter="salary < 0"&$method=delete       →  { "ok": true }, also when there are none
 *   POST /Employee?$method=delete                           →  { "ok": true }, all of them
 *
 * Entities that cannot be deleted remain, and the first reason is the answer; with `$atomic=true` nothing is deleted in that case.
 * Refused: an empty filter or key, parameters that narrow nothing, paging, a body (`condition.ts`), and
 * `Class:attribute(value)` with an attribute that is not unique. Source: base specification, 4.4; protocol notes, 5.7.
 */
export default definePlugin({
  name: 'delete',
  kernel: '^1.0.0',
  register({ method, verb, engine, selects, parameter }) {
    for (const name of ATOMIC) {
      const doc = `Deletes everything or nothing${name === '$atomic' ? '' : '; the same as `$atomic`'}.`
      parameter(name, { schema: { type: 'boolean' }, doc, example: true, on: DELETIONS, section: '4.4' })
    }
    const remove = async (request: RestRequest): Promise<Reply> => {
      // `DELETE /Class(1)/photo` must never delete the entity.
      if (request.read.output.attributes?.from === 'path') throw DeleteErrors.NOT_ENTITIES()
      demandCondition(request, selects)
      const ifMatch = expectedVersion(request)
      await demandNoBody(request)
      await engine.delete(
        request.read,
        {
          atomic: ATOMIC.some(name => request.flag(name)),
          owner: request.session.handle,
          ifMatch,
        },
        request.transport,
      )
      return json({ ok: true })
    }
    method('delete', DELETE, remove)
    verb('DELETE', remove)
  },
})

const ATOMIC = ['$atomic', '$atOnce', '$atonce'] as const
const DELETIONS = ['deleteSelection', 'deleteSeveral', 'deleteSet'] as const

const DELETE: MethodSpec = {
  verbs: ['POST', 'DELETE'],
  doc: 'Deletes the entities that the address and the filter select.',
  on: ['delete'],
  section: '4.4',
}
