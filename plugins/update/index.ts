import {
  definePlugin,
  encoded,
  expectedVersion,
  type MethodSpec,
  type Reply,
  type RestRequest,
} from '../../kernel/api.ts'
import {
  type ClassFunction,
  FunctionErrors,
  hasBinaries,
  type PluginEngine,
  type SaveRequest,
} from '../../engine/index.ts'
import { UpdateErrors } from './errors.ts'

/**
 * `$method=update` creates and changes entities, `$method=validate` only checks them. POST and PUT without `$method`
 * mean update.
 *
 *   POST /Employee?$method=update   {"__KEY":"1","__STAMP":3,"salary":45000}   →  the entity as saved
 *   POST /Employee?$method=update   [{…}, {…}]                                  →  { "__ENTITIES": [ …in their order ] }
 *   POST /Employee?$method=validate {…}                                         →  { "ok": true }
 *
 * `$atomic=true` (or `$atOnce`) saves all or nothing; `$refresh=true` answers with what would be saved and saves nothing;
 * `$asArray=true` answers several with a bare array. `$returning=none`, or the header `Prefer: return=minimal`, answers with counts and
 * failures instead of entities: `{ "__COUNT": 3, "__SAVED": 2, "__ENTITIES": [{ "__STATUS", "__ERROR", "__INDEX" }] }`. Parameters that select entities are refused: `POST /Employee?$filter=…`
 * is meant as a read.
 * The HTTP status is 200 when every entity was saved, else that of the first failure. Source: base specification, 4.4
 * and 7; protocol notes, 5.
 */
export default definePlugin({
  name: 'update',
  kernel: '^1.0.0',
  register({ method, verb, engine, selects, parameter }) {
    for (const name of ATOMIC) {
      const doc = `Saves everything or nothing${name === '$atomic' ? '' : '; the same as `$atomic`'}.`
      parameter(name, { schema: { type: 'boolean' }, doc, example: true, on: ['save'], section: '4.4' })
    }
    parameter('$refresh', {
      schema: { type: 'boolean' },
      doc: 'Returns what would be saved, and saves nothing.',
      example: true,
      on: ['save'],
      section: '4.4',
    })
    parameter('$returning', {
      schema: { type: 'string', enum: ['none', 'entities'] },
      doc: '`none` returns counts and failures, not entities; `Prefer: return=minimal` means the same.',
      example: 'none',
      on: ['save'],
    })
    const save = async (request: RestRequest, mode: SaveRequest['mode']): Promise<Reply> => {
      // Headers can be read only until the body is awaited.
      const output = { ...request.read.output, returning: returningOf(request) }
      const { status, body } = await engine.save(
        {
          kind: 'save',
          dataClass: addressedDataClass(request, engine, selects),
          access: request.access,
          ifMatch: expectedVersion(request),
          body: await request.saveBody(),
          mode,
          atomic: isAtomic(request),
          owner: request.session.lockOwner,
          uploads: hasBinaries(request.dataClass!) ? engine.uploads.access(request.uploader) : undefined,
        },
        output,
        request.transport,
      )
      return encoded(body, status)
    }
    const update = (request: RestRequest) => save(request, request.flag('$refresh') ? 'refresh' : 'update')
    method('update', { ...WRITES, doc: 'Creates and changes the entities in the body.' }, update)
    method('validate', { ...WRITES, doc: 'Checks the entities in the body, and saves nothing.' }, request =>
      save(request, 'validate'),
    )
    verb('POST', update)
    verb('PUT', update)
  },
})

const WRITES: MethodSpec = { verbs: ['POST', 'PUT'], on: ['save'], section: '4.4' }

const ATOMIC = ['$atomic', '$atOnce', '$atonce'] as const
const isAtomic = (request: RestRequest): boolean => ATOMIC.some(name => request.flag(name))

/** The parameter has precedence over the header (RFC 7240). */
function returningOf(request: RestRequest): 'none' | undefined {
  const value = request.parameter('$returning')
  if (value === undefined) return prefersMinimal(request.transport.header('prefer')) ? 'none' : undefined
  if (value !== 'none' && value !== 'entities') throw UpdateErrors.RETURNING(value.slice(0, 100))
  return value === 'none' ? value : undefined
}

const prefersMinimal = (prefer: string): boolean => prefer !== '' && /(?:^|,)\s*return\s*=\s*"?minimal\b/i.test(prefer)

/** Parameters of a selection, other than the parameters that select entities. */
const OF_SELECTIONS = ['$orderby', '$top', '$limit', '$skip']
/** Parameters that only reads have: their presence makes a request a read, unless it has a different `$method`. */
const READING = ['$extendedAttributes', '$compute', '$distinct', '$queryplan', '$querypath', '$format', '$savedfilter']

/** Dataclass of the address, which names no entities since the body does. */
function addressedDataClass(request: RestRequest, engine: PluginEngine, selects: (name: string) => boolean): string {
  const { read, dataClass, view, parameters } = request
  const { attributes } = read.output
  if (attributes?.from === 'path' && !view.attribute(dataClass!, attributes.items[0]?.path[0] ?? '')) {
    // A POST to a name that is not an attribute is treated as a function call.
    const name = attributes.items[0]?.path.join('.').slice(0, 100) ?? ''
    throw unknownFunction(name, request, engine)
  }
  if (read.source.kind !== 'all' || attributes?.from === 'path') {
    throw UpdateErrors.NOT_A_DATACLASS(read.dataClass)
  }
  const names = parameters.has('$method') ? OF_SELECTIONS : [...OF_SELECTIONS, ...READING]
  const reading = [...parameters.keys()].find(name => selects(name) || names.includes(name))
  if (reading) throw UpdateErrors.READS(reading, read.dataClass)
  return read.dataClass
}

/** Error for a call of a function that does not exist at the address; it reveals no functions that the caller may not call. */
function unknownFunction(name: string, { read, access, isEntity }: RestRequest, engine: PluginEngine) {
  const { dataClass } = read
  const { classes } = engine
  const mayCall = (classFunction: ClassFunction): boolean => engine.mayCall(classFunction, access)
  const other = classes.find(dataClass, name, !isEntity)
  if (other && mayCall(other)) {
    return FunctionErrors.OTHER_TARGET(name, dataClass, isEntity ? `${dataClass}/${name}` : `${dataClass}(key)/${name}`)
  }
  return FunctionErrors.UNKNOWN_FUNCTION(name, dataClass, classes.names(dataClass, isEntity, mayCall))
}
