import { describeAll, describeCatalog, describeDataClass, FunctionErrors } from '../../engine/index.ts'
import {
  callFunction,
  definePlugin,
  json,
  methodNotApplicable,
  type Reply,
  type RestRequest,
  type ParameterSpec,
  type ServiceSpec,
} from '../../kernel/api.ts'
import { OPERATIONS } from './operations.ts'

/**
 * `$catalog`: the structure of the data model as far as the caller may read it, and the functions of the datastore.
 *
 *   GET  /$catalog                →  { dataClass: [{ name, uri, dataURI }] }, repeated as dataClasses
 *   GET  /$catalog/$all           →  { dataClasses: [description, …] }
 *   GET  /$catalog/{dataClass}    →  the description
 *   GET  /$catalog/{A},{B}        →  { dataClasses: [description, …] }
 *   POST /$catalog/{function}     →  the result of the function of the datastore class; GET if it allows that
 *   POST /$catalog/authentify     →  the same: every caller may call it, whatever the roles say
 *
 * Exposed class functions that the caller may call are listed as `methods` of their dataclass, those of shared singletons as
 * `singletons`; `$all` lists those of the datastore as `methods`.
 * Source: base specification, 2.1 to 2.4 and 4.1; protocol notes, 3.1 and 7.1.
 */
export default definePlugin({
  name: 'catalog',
  kernel: '^1.0.0',
  register({ service, engine, parameter, applyParameters }) {
    parameter('$params', ARGUMENTS)
    parameter('$timeout', TIMEOUT)
    const { classes, catalog } = engine
    const withMethods = (description: { name: string }, request: RestRequest): object => {
      const methods = classes.describe(description.name, each => engine.mayCall(each, request.access))
      return methods.length > 0 ? { ...description, methods } : description
    }
    const describe = (name: string, request: RestRequest): object => {
      const { view } = request
      return withMethods(describeDataClass(view.dataClass(name), view), request)
    }
    const singletonsOf = ({ access }: RestRequest): object => {
      const singletons = classes.describeSingletons(each => engine.mayCall(each, access))
      return singletons.length > 0 ? { singletons } : {}
    }
    const methodsOf = ({ access }: RestRequest): object => {
      const methods = classes.describeDataStore(each => engine.mayCall(each, access))
      return methods.length > 0 ? { methods } : {}
    }
    const callable = ({ access }: RestRequest): string[] =>
      [...classes.dataStore.values()].filter(each => engine.mayCall(each, access)).map(each => each.name)

    service('$catalog', CATALOG, (request): Reply | Promise<Reply> => {
      const name = request.parts[0]
      const classFunction = name === undefined ? undefined : classes.dataStore.get(name)
      if (classFunction && catalog.dataClassesByName.get(classFunction.name)?.scope !== 'public') {
        applyParameters(request)
        return callFunction(engine, classFunction, request)
      }
      if (request.verb === 'POST') {
        const isDescribed = name === undefined || name === '$all' || request.view.find(name) !== undefined
        if (!isDescribed) throw FunctionErrors.UNKNOWN_FUNCTION(name.slice(0, 100), 'the datastore', callable(request))
        return methodNotApplicable('$catalog', 'POST', ['GET'])
      }
      if (name === undefined) return json({ ...singletonsOf(request), ...describeCatalog(request.view) })
      if (name === '$all') {
        const dataClasses = describeAll(request.view).dataClasses.map(each => withMethods(each, request))
        return json({ ...singletonsOf(request), ...methodsOf(request), dataClasses })
      }
      if (!name.includes(',')) return json(describe(name, request))
      // Duplicates removed: a URL has room for thousands of names, and a description is a hundred times as long.
      const names = new Set(name.split(',').map(each => each.trim()))
      return json({ dataClasses: [...names].map(each => describe(each, request)) })
    })
  },
})

const CATALOG: ServiceSpec = {
  verbs: ['GET', 'POST'],
  guests: true,
  doc: 'The data model, and functions of the datastore.',
  section: '4.1',
  tag: 'catalog',
  operations: OPERATIONS,
}

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
