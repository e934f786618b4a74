import type { Catalog, ClassFunction, JsonSchema, PluginEngine, View } from '../../engine/index.ts'
import type { Registered } from '../../kernel/api.ts'
import { ERROR_DESCRIPTION } from './errors.ts'
import { functionsOf } from './function-paths.ts'
import { jsonContent, schemaRef } from './names.ts'
import { operationOf, routePaths, servicePaths, withKnownRefs, withOwnIds } from './operations.ts'
import { Parameters } from './parameters.ts'
import { pathParametersOf, pathsOf, responsesOf } from './paths.ts'
import { COLLECTION_SCHEMA, ENTITY_SCHEMA, schemasOf } from './schemas.ts'
import { queryBodies, queryRequests } from './query-body.ts'
import { SHARED_PARAMETERS, SHARED_SCHEMAS } from './shared.ts'
import { tagsOf } from './tags.ts'
import { usedComponents } from './used.ts'

interface DocumentOptions {
  readonly catalog: Catalog
  readonly classes: PluginEngine['classes']
  /** Dataclasses and attributes that the caller may see. */
  readonly view: View
  readonly mayCall: (classFunction: ClassFunction) => boolean
  readonly isAdministrator: boolean
  /** Registrations of the plugins. */
  readonly registered: Registered
  /** Version of the server. */
  readonly version: string
  readonly cookieName: string
}

/** The OpenAPI 3.1 document of a catalog and of the registrations of plugins, limited to the rights of a caller. */
export function openApiDocument({
  catalog,
  classes,
  view,
  mayCall,
  isAdministrator,
  registered,
  version,
  cookieName,
}: DocumentOptions): object {
  const { dataClasses } = view
  const each = <T>(make: (dataClass: (typeof dataClasses)[number]) => Record<string, T>): Record<string, T> =>
    Object.assign({}, ...dataClasses.map(make)) as Record<string, T>
  const parameters = new Parameters(registered, view)
  const schemas: Record<string, JsonSchema> = {}
  const surroundings = { parameters, isAdministrator, schemas, dataClass: dataClasses[0]?.name }
  const functions = functionsOf(classes, view, mayCall, parameters)
  const setService = registered.services.get('$entityset')
  const release = setService?.operations?.['POST /$release']
  const ofPlugins = {
    ...routePaths(registered, catalog.restPath, surroundings),
    ...servicePaths(registered.services, surroundings),
  }
  const bodies = queryBodies(parameters)
  const ownSchemas: Record<string, JsonSchema> = {
    ...SHARED_SCHEMAS,
    'rest.Entity': ENTITY_SCHEMA,
    'rest.Collection': COLLECTION_SCHEMA,
    ...bodies,
    ...each(dataClass => schemasOf(dataClass, view)),
  }
  const isSchema = (name: string): boolean => [schemas, ownSchemas].some(all => Object.hasOwn(all, name))
  const ofData = {
    ...each(dataClass => ({
      ...pathsOf(dataClass, view, parameters),
      ...(release && {
        [`/${dataClass.name}/$entityset/$release`]: {
          post: operationOf(
            { ...release, id: `${dataClass.name}.${release.id}` },
            setService.tag ?? setService.plugin,
            surroundings,
          ),
        },
      }),
    })),
    ...functions.paths,
  }
  const paths = { ...withKnownRefs(withOwnIds(ofPlugins, ofData), isSchema), ...ofData }
  return {
    openapi: '3.1.0',
    info: { title: catalog.name, version, description: DESCRIPTION },
    servers: [{ url: catalog.restPath }],
    security: [{}, { session: [] }, { bearer: [] }],
    tags: tagsOf(paths, dataClasses, registered, isAdministrator),
    paths,
    components: {
      ...usedComponents(paths, {
        schemas: { ...withKnownRefs(schemas, isSchema), ...ownSchemas },
        parameters: {
          ...SHARED_PARAMETERS,
          ...parameters.components,
          ...each(dataClass => pathParametersOf(dataClass, view)),
          ...functions.parameters,
        },
        responses: {
          Error: { description: ERROR_DESCRIPTION, content: jsonContent(schemaRef('rest.Errors')) },
          NotModified: { description: 'The client already has this version, according to `If-None-Match`.' },
          Ok: { description: 'Done.', content: jsonContent(schemaRef('rest.Ok')) },
          ...each(responsesOf),
          ...functions.responses,
        },
        headers: {
          ETag: {
            description: 'Version of the entity, if the answer shows only its own values.',
            schema: { type: 'string' },
          },
        },
        requestBodies: { ...queryRequests(bodies), ...functions.requestBodies },
      }),
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: cookieName, description: 'The cookie of `/$directory/login`.' },
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key, or a JSON Web Token.' },
      },
    },
  }
}

const DESCRIPTION =
  'Data of a Tesser server, by the 4D REST protocol. What the caller may not see is not in this document.'
