import type { JsonSchema } from '../engine/index.ts'

export type Verb = (typeof VERBS)[number]

/** All values of {@link Verb}. */
export const VERBS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const

export interface Accepts {
  /** Allowed verbs. `GET` includes `HEAD`. Other verbs are answered with 405. */
  readonly verbs: readonly Verb[]
  /** For a service: guests may use it even if `roles.json` requires a login. */
  readonly guests?: boolean
  /** For a route: another plugin may register the path, before or after, and answers it instead. */
  readonly yields?: boolean
}

export interface RouteOptions extends Accepts {
  /** Maximum bytes of a body, at most `server.bodyBytes`, which is the default; larger ones are answered with 413. */
  readonly bodyBytes?: number
}

/**
 * Requests on data, as `on` names them:
 *
 * | name | request |
 * | --- | --- |
 * | `list` | `GET /City`, `POST /City/$query` |
 * | `listValues` | `GET /City/{attributes}`, `POST /City/$query/{attributes}` |
 * | `get`, `getValues` | `GET /City(1)`, `GET /City(1)/{attributes}` |
 * | `getBy` | `GET /City:name(Rome)`, of a unique attribute |
 * | `getSeveral` | `GET /City(1,2)` |
 * | `related` | `GET /Country(1)/cities?$expand=cities`, of a relation to many |
 * | `openSet` | `GET /City/$entityset/{id}` |
 * | `save`, `lock` | `POST /City`, `POST /City(1)?$lock=true` |
 * | `delete` | every deletion |
 * | `deleteSelection`, `deleteSeveral`, `deleteSet` | `DELETE /City?$filter=…`, `DELETE /City(1,2)`, `DELETE /City/$entityset/{id}` |
 * | `image`, `putImage`, `clearImage` | `GET`, `PUT`, `DELETE /City(1)/photo` |
 * | `blob`, `putBlob`, `clearBlob` | the same of a blob |
 * | `call` | a function of an entity selection |
 */
export type DataOperation = (typeof DATA_OPERATIONS)[number]

/** All values of {@link DataOperation}. */
export const DATA_OPERATIONS = [
  'list',
  'listValues',
  'get',
  'getValues',
  'getBy',
  'getSeveral',
  'related',
  'openSet',
  'save',
  'lock',
  'delete',
  'deleteSelection',
  'deleteSeveral',
  'deleteSet',
  'image',
  'putImage',
  'clearImage',
  'blob',
  'putBlob',
  'clearBlob',
  'call',
] as const

/** Operations that answer with a selection: the default of `on`. */
export const SELECTIONS: readonly DataOperation[] = ['list', 'listValues', 'openSet']

/** Description of a parameter: the OpenAPI document, the reference, MCP and typed clients show it. */
export interface ParameterSpec {
  /**
   * JSON Schema of the value. The type `boolean` is a flag. A `format` names the kind of query text that the parameter accepts, so that
   * documents can show an example for each dataclass: `condition`, `order`, `attributes`, `relations`.
   */
  readonly schema: JsonSchema
  /** One or two sentences for the people who use it. */
  readonly doc: string
  readonly example?: unknown
  /**
   * Operations on data that it belongs to, or ids of operations of services; by default {@link SELECTIONS}. A name that nothing
   * registers is logged as a warning.
   */
  readonly on?: readonly (DataOperation | (string & {}))[]
  /** True if these operations cannot be requested without it. */
  readonly required?: boolean
  /**
   * True if it decides which entities are selected. Deletions refuse all other parameters of plugins, and two that select, so that no
   * client deletes more than it meant to.
   */
  readonly selects?: boolean
  /** Section of the 4D REST specification that describes it, or `protocol`. Undefined: it is an extension. */
  readonly section?: string
}

/** A parameter whose presence makes the plugin answer. */
export interface CommandSpec extends ParameterSpec, Accepts {}

/** A value of `$method`. By default it is on {@link SELECTIONS} if it takes GET, otherwise on `save`. */
export interface MethodSpec extends Accepts, Partial<Pick<ParameterSpec, 'doc' | 'section' | 'on'>> {}

/** A service: `/rest/$name/…`. Without `operations` it is not in the OpenAPI document. */
export interface ServiceSpec extends Accepts, Partial<Pick<ParameterSpec, 'doc' | 'section'>> {
  /** Only administrators may use it; others are refused before the handler is called. */
  readonly administrators?: boolean
  /** Group in the OpenAPI document; by default the name of the plugin. */
  readonly tag?: string
  /** Operations by verb and path below the service: `GET /`, `POST /{dataClass}`. */
  readonly operations?: Readonly<Record<`${string} /${string}`, OperationSpec>>
}

/** A route. Without `operations` it is not in the OpenAPI document. */
export interface RouteSpec extends RouteOptions, Pick<ServiceSpec, 'doc' | 'section' | 'tag'> {
  /** True if only the OpenAPI document of administrators shows it. The handler has to refuse all others itself. */
  readonly shownToAdministrators?: boolean
  /** Operations by verb. */
  readonly operations?: Readonly<Record<string, OperationSpec>>
}

/** One verb at one address. */
export interface OperationSpec {
  /** `operationId`; parameters name it in `on`. */
  readonly id: string
  /** Summary in one line. */
  readonly doc: string
  /** Parameters of the path, by name. */
  readonly path?: Readonly<Record<string, PathParameterSpec>>
  readonly body?: BodySpec
  /** Parameters of which a request needs one. */
  readonly oneOf?: readonly string[]
  /** Answers by status; by default an object of any form for 200. Without `default`, all other answers are errors of the protocol. */
  readonly answers?: Readonly<Record<number, BodySpec>> & { readonly default?: BodySpec }
}

interface PathParameterSpec extends Partial<Pick<ParameterSpec, 'doc' | 'example'>> {
  readonly schema: JsonSchema
}

/**
 * Content of a request or an answer. A schema with `$id` is shown once, under that name, which begins with the name of the plugin:
 * `acme.Report`.
 */
export interface BodySpec {
  readonly doc?: string
  readonly schema?: JsonSchema
  /** Media types; by default JSON. */
  readonly types?: readonly string[]
  readonly example?: unknown
}

/** The answer `{ "ok": true }`. */
export const DONE: BodySpec = { doc: 'Done.', schema: { $ref: '#/components/schemas/rest.Ok' } }

interface Owned {
  readonly plugin: string
}

/** A parameter or command, as one plugin declares it. Agents and typed clients have the parameters of plugins that are not built in. */
export interface DeclaredParameter extends Owned, ParameterSpec {
  readonly name: string
  readonly isBuiltIn: boolean
  /** Verbs of a command. */
  readonly verbs?: CommandSpec['verbs']
}

/** Everything that the plugins of a server have registered so far, by the names that requests use. */
export interface Registered {
  /** Parameters and commands in the order of registration. Several plugins can declare the same parameter for different operations. */
  readonly declared: readonly DeclaredParameter[]
  readonly methods: ReadonlyMap<string, Owned & MethodSpec>
  readonly services: ReadonlyMap<string, Owned & ServiceSpec>
  /** Parts of paths after a dataclass. */
  readonly parts: ReadonlyMap<string, Owned>
  readonly verbs: ReadonlyMap<string, Owned>
  /** Verbs on one image or blob. */
  readonly binaries: ReadonlyMap<string, Owned>
  readonly routes: ReadonlyMap<string, Owned & RouteSpec & { readonly path: string }>
  readonly patterns: Registered['routes']
  /** True if class functions can be called. */
  readonly hasMembers: boolean
}
