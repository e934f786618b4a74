import { type ClassFunction, FunctionErrors } from '../../engine/index.ts'
import { callFunction, definePlugin, type ParameterSpec, type ServiceSpec } from '../../kernel/api.ts'
import { functionOnRelated } from './related.ts'

/**
 * Class functions: plugin code that clients call. `$catalog/{function}` belongs to the catalog.
 *
 *   POST /Employee/{function}                        a function of the entity selection class, else of the dataclass class
 *        also with $filter, $orderby …, /Employee(1,2)/{function}, /Employee/{function}/$entityset/{id} and after it
 *   POST /Employee(1)/{function}                     of the entity class; also Employee:email("…")/{function}
 *   POST /Company(1)/staff/{function}                of the selection class, on the related entities, with $filter, $orderby …
 *   POST /Employee(1)/employer/{function}            of the entity class, on the related entity
 *   POST /$singleton/{class}/{function}              of a shared singleton
 *
 * The body has the arguments: `[1, "text"]`, `{"params": [1, "text"]}`, or a single value. GET works for functions that allow it, with
 * arguments in `$params`. An entity is passed as `{"__ENTITY": true, "__DATACLASS": "Employee", "__KEY": 1, …}`, a selection as
 * `{"__DATASET": "{id of an entity set}"}`.
 *
 *   a value          →  { "result": value }
 *   an entity        →  the entity; a selection → the collection, paged by $top and $skip, or kept by $method=entityset
 *   a generator      →  its values as they are produced: NDJSON, or Server-Sent Events if `Accept` prefers `text/event-stream`
 *   OutgoingMessage  →  its own status, headers and body
 *
 * Source: base specification, 4.7; protocol notes, 7.
 */
export default definePlugin({
  name: 'functions',
  kernel: '^1.0.0',
  register({ engine, member, service, applyParameters, parameter }) {
    parameter('$params', ARGUMENTS)
    parameter('$timeout', TIMEOUT)
    const { classes } = engine
    if (classes.isEmpty) return

    member((request, name) => {
      // `/Employee(1)/manager/greet` greets the manager if both have such a function.
      const onRelated = functionOnRelated(request, name, engine)
      if (onRelated) return onRelated
      const classFunction = classes.find(request.dataClass!.name, name, request.isEntity)
      if (!classFunction) return undefined
      // Read before the first `await`, after which the body is no longer available.
      if (request.verb === 'POST') request.argumentBody()
      if (classFunction.isStream) void request.prefersEvents
      return () => callFunction(engine, classFunction, request)
    })

    service('$singleton', SINGLETON, request => {
      const [className = '', name = ''] = request.parts
      const functions = classes.singletons.get(className)
      const singletonFunction = functions?.get(name)
      if (!singletonFunction) {
        const mayCall = (each: ClassFunction): boolean => engine.mayCall(each, request.access)
        const knownNames = [...(functions?.values() ?? [])].filter(mayCall).map(each => each.name)
        throw knownNames.length > 0
          ? FunctionErrors.UNKNOWN_FUNCTION(name.slice(0, 100), className, knownNames)
          : FunctionErrors.UNKNOWN_SINGLETON(className.slice(0, 100), classes.singletonNames(mayCall))
      }
      applyParameters(request)
      return callFunction(engine, singletonFunction, request)
    })
  },
})

const SINGLETON: ServiceSpec = { verbs: ['GET', 'POST'], doc: 'Functions of shared singletons.', section: '4.7' }

const ARGUMENTS: ParameterSpec = {
  schema: { type: 'string', contentMediaType: 'application/json' },
  doc: 'Arguments of the function in a GET, as a JSON array.',
  on: [],
  section: '4.7',
}
const TIMEOUT: ParameterSpec = {
  schema: { type: 'integer' },
  doc: 'Time in seconds without use after which an entity set that the function returns ends.',
  on: [],
  section: '4.5',
}
