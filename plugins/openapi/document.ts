import type { Catalog, ClassFunction, PluginEngine, View } from '../../engine/index.ts'
import { ERROR_DESCRIPTION } from './errors.ts'
import { functionsOf } from './function-paths.ts'
import { isParameterOf, loadedPaths } from './loaded.ts'
import { jsonContent, schemaRef } from './names.ts'
import { outsidePaths } from './outside.ts'
import { parametersOf, pathsOf, responsesOf } from './paths.ts'
import { COLLECTION_SCHEMA, ENTITY_SCHEMA, schemasOf } from './schemas.ts'
import { queryBodies, queryRequests } from './query-body.ts'
import { REQUEST_BODIES, servicePaths } from './services.ts'
import { SHARED_PARAMETERS, SHARED_SCHEMAS } from './shared.ts'
import { tagsOf } from './tags.ts'
import { usedComponents } from './used.ts'

interface DocumentOptions {
  readonly catalog: Catalog
  readonly classes: PluginEngine['classes']
  /** Dataclasses and attributes that the caller may see. */
  readonly view: View
  readonly mayCall: (called: ClassFunction) => boolean
  readonly isAdministrator: boolean
  /** Names of the loaded plugins. */
  readonly plugins: readonly string[]
  /** Version of the server. */
  readonly version: string
  readonly cookieName: string
}

/** The OpenAPI 3.1 document of a catalog, as far as a caller may see it. */
export function openApiDocument({
  catalog,
  classes,
  view,
  mayCall,
  isAdministrator,
  plugins,
  version,
  cookieName,
}: DocumentOptions): object {
  const { dataClasses } = view
  const each = <T>(make: (dataClass: (typeof dataClasses)[number]) => Record<string, T>): Record<string, T> =>
    Object.assign({}, ...dataClasses.map(make)) as Record<string, T>
  const loads = (plugin: string): boolean => plugins.includes(plugin)
  const isParameter = (name: string): boolean => isParameterOf(plugins, name)
  const functions = functionsOf(classes, view, mayCall, loads)
  const parameters = {
    ...SHARED_PARAMETERS,
    ...each(dataClass => parametersOf(dataClass, view)),
    ...functions.parameters,
  }
  const paths = loadedPaths(
    {
      ...outsidePaths(catalog.restPath, isAdministrator, loads),
      ...servicePaths(dataClasses[0]?.name, isAdministrator),
      ...each(dataClass => pathsOf(dataClass, view, loads)),
      ...functions.paths,
    },
    parameters,
    plugins,
  )
  return {
    openapi: '3.1.0',
    info: { title: catalog.name, version, description: DESCRIPTION },
    servers: [{ url: catalog.restPath }],
    security: [{}, { session: [] }, { bearer: [] }],
    tags: tagsOf(paths, dataClasses),
    paths,
    components: {
      ...usedComponents(paths, {
        schemas: {
          ...SHARED_SCHEMAS,
          'rest.Entity': ENTITY_SCHEMA,
          'rest.Collection': COLLECTION_SCHEMA,
          ...queryBodies(isParameter),
          ...each(dataClass => schemasOf(dataClass, view)),
        },
        parameters,
        responses: {
          Error: { description: ERROR_DESCRIPTION, content: jsonContent(schemaRef('rest.Errors')) },
          NotModified: { description: 'The client has this version already, by `If-None-Match`.' },
          Ok: { description: 'Done.', content: jsonContent(schemaRef('rest.Ok')) },
          ...each(responsesOf),
          ...functions.responses,
        },
        headers: {
          ETag: {
            description: 'Version of the entity, where nothing but its own values is shown.',
            schema: { type: 'string' },
          },
        },
        requestBodies: { ...REQUEST_BODIES, ...queryRequests(isParameter), ...functions.requestBodies },
      }),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: cookieName, description: 'Of `/$directory/login`.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a JSON Web Token.' },
      },
    },
  }
}

const DESCRIPTION =
  'Data of a Tesser server, by the 4D REST protocol. What the caller may not see is not in this document.'
