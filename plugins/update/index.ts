import { type Accepts, definePlugin, encoded, json, type Reply, type RestRequest } from '../../kernel/api.ts'
import { type Engine, FunctionErrors } from '../../engine/index.ts'
import { UpdateErrors } from './errors.ts'

/**
 * `$method=update` creates and changes entities, `$method=validate` only checks them. POST and PUT without `$method`
 * mean update.
 *
 *   POST /Employee?$method=update   {"__KEY":"1","__STAMP":3,"salary":45000}   →  the entity as saved
 *   POST /Employee?$method=update   [{…}, {…}]                                  →  { "__ENTITIES": [ …in their order ] }
 *   POST /Employee?$method=validate {…}                                         →  { "ok": true }
 *
 * `$atomic=true` (or `$atOnce`) saves all or nothing; `$refresh=true` answers what would be saved and saves nothing.
 * The HTTP status is 200 when every entity was saved, else that of the first failure. Source: base specification, 4.4
 * and 7; protocol notes, 5.
 */
export default definePlugin({
  name: 'update',
  kernel: '^1.0.0',
  register({ method, verb, engine }) {
    const update = async (request: RestRequest): Promise<Reply> => {
      const { status, body } = await engine.save(
        {
          kind: 'save',
          dataClass: addressedDataClass(request, engine),
          access: request.access,
          body: await request.body(),
          mode: request.flag('$refresh') ? 'refresh' : 'update',
          atomic: isAtomic(request),
          owner: request.session.handle,
          uploads: engine.uploads.access(request.uploader),
        },
        request.read.output,
        request.transport,
      )
      return encoded(body, status)
    }
    const validate = async (request: RestRequest): Promise<Reply> => {
      const { entities } = await engine.write({
        kind: 'save',
        dataClass: addressedDataClass(request, engine),
        access: request.access,
        body: await request.body(),
        mode: 'validate',
        atomic: isAtomic(request),
        owner: request.session.handle,
        uploads: engine.uploads.access(request.uploader),
      })
      const failed = entities.flatMap(({ failure }) => failure ?? [])
      if (failed.length === 0) return json({ ok: true })
      return json({ __ENTITIES: failed.map(({ error }) => ({ __ERROR: error.entries })) }, failed[0]!.error.httpStatus)
    }
    method('update', WRITES, update)
    method('validate', WRITES, validate)
    verb('POST', update)
    verb('PUT', update)
  },
})

const WRITES: Accepts = { verbs: ['POST', 'PUT'] }

const isAtomic = (request: RestRequest): boolean => ['$atomic', '$atOnce', '$atonce'].some(name => request.flag(name))

/** The body names the entities, so the address is the dataclass alone. */
function addressedDataClass({ read, dataClass, view, isEntity }: RestRequest, { classes }: Engine): string {
  const { attributes } = read.output
  if (attributes?.from === 'path' && !view.attribute(dataClass!, attributes.items[0]?.path[0] ?? '')) {
    // Whoever posts to a name that is no attribute wants to call a function.
    const name = attributes.items[0]?.path.join('.').slice(0, 100) ?? ''
    throw FunctionErrors.UNKNOWN_FUNCTION(name, read.dataClass, classes.names(read.dataClass, isEntity))
  }
  if (read.source.kind !== 'all' || attributes?.from === 'path') {
    throw UpdateErrors.NOT_A_DATACLASS(read.dataClass)
  }
  return read.dataClass
}
