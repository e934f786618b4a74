import type { JsonSchema } from '../../engine/index.ts'
import { ANY_OBJECT, DONE, FAILURE, jsonContent, ok, ref, schemaRef } from './names.ts'

const shared = (name: string): JsonSchema => schemaRef(`rest.${name}`)
const operation = (id: string, tag: string, summary: string, more: object): object => ({
  operationId: id,
  summary,
  tags: [tag],
  ...more,
})
const result = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { result: schema },
  required: ['result'],
})
const get = (id: string, tag: string, summary: string, schema: JsonSchema): object => ({
  get: operation(id, tag, summary, { responses: ok(schema) }),
})

/** Addresses that belong to no dataclass. @param first name of a dataclass that the caller may see, for examples */
export function servicePaths(first: string | undefined, isAdministrator: boolean): Record<string, object> {
  const dataClass = {
    name: 'dataClass',
    in: 'path',
    required: true,
    description: 'Name of a dataclass, or several with commas between.',
    schema: { type: 'string' },
    ...(first !== undefined && { example: first }),
  }
  return {
    '/$catalog': get('catalog', 'catalog', 'Names and addresses of the dataclasses', shared('Catalog')),
    '/$catalog/$all': get('catalog.all', 'catalog', 'Descriptions of all dataclasses', shared('Catalog')),
    '/$catalog/{dataClass}': {
      parameters: [dataClass],
      ...get('catalog.dataClass', 'catalog', 'Description of a dataclass', {
        anyOf: [shared('DataClass'), shared('Catalog')],
      }),
    },
    '/$client': {
      get: operation('client', 'catalog', 'A typed client for TypeScript, as one file', {
        parameters: [ref('parameters', 'dates'), ref('parameters', 'module')],
        responses: {
          '200': { description: 'The file.', content: { 'text/plain': { schema: { type: 'string' } } } },
          ...FAILURE,
        },
      }),
    },
    '/$openapi': get('openapi', 'catalog', 'This document', ANY_OBJECT),
    '/$directory/login': {
      post: operation('login', 'session', 'Makes a session, whose cookie is in the answer', {
        requestBody: {
          required: true,
          content: jsonContent(
            {
              type: 'array',
              prefixItems: [
                { type: 'string', title: 'user' },
                { type: 'string', title: 'password' },
              ],
              minItems: 2,
              description: 'A third item, a number, is the seconds that the session lives without use.',
            },
            { example: ['ada', 'secret'] },
          ),
        },
        responses: ok(result({ type: 'boolean' })),
      }),
    },
    '/$directory/logout': {
      post: operation('logout', 'session', 'Ends the session', {
        responses: ok(result({ type: 'boolean', const: true })),
      }),
    },
    '/$directory/currentUser': get('currentUser', 'session', 'User of the session, null for a guest', {
      type: 'object',
      properties: {
        result: {
          type: ['object', 'null'],
          properties: {
            userName: { type: 'string' },
            fullName: { type: 'string' },
            ID: { type: ['string', 'number'] },
          },
        },
        privileges: { type: 'array', items: { type: 'string' } },
        administrator: { type: 'boolean' },
      },
      required: ['result', 'privileges', 'administrator'],
    }),
    '/$directory/currentUserBelongsTo': {
      post: operation('currentUserBelongsTo', 'session', 'Whether the user is in a group', {
        requestBody: {
          required: true,
          content: jsonContent({ type: ['array', 'string'] }, { example: ['staff'] }),
        },
        responses: ok(result({ type: 'boolean' })),
      }),
    },
    '/$upload': {
      post: operation('upload', 'data', 'Takes a file, which a save attaches by its id', {
        parameters: [
          ref('parameters', 'rawPict'),
          {
            name: '$binary',
            in: 'query',
            required: true,
            description: 'The body is a file. Not needed beside `$rawPict`.',
            schema: { type: 'boolean', const: true },
            example: true,
          },
          ref('parameters', 'timeout'),
        ],
        requestBody: {
          required: true,
          content: { '*/*': { schema: { type: 'string', format: 'binary' } } },
        },
        responses: ok(shared('Upload')),
      }),
    },
    '/$entityset/$release': releaseSets('releaseSets'),
    ...(isAdministrator && {
      ...infoPaths(),
      ...backupPaths(),
      ...jobPaths(),
      ...migratePaths(),
      ...importPaths(dataClass),
    }),
  }
}

/** Operation that ends entity sets, at an address of a dataclass or of all. */
export const releaseSets = (id: string): object => ({
  post: operation(id, 'data', 'Ends entity sets', { requestBody: ref('requestBodies', 'SetIds'), responses: DONE }),
})

/** Bodies of requests that several addresses share. */
export const REQUEST_BODIES: Readonly<Record<string, object>> = {
  SetIds: {
    description: 'Ids of entity sets.',
    required: true,
    content: jsonContent({ type: 'array', items: { type: 'string' } }, { example: [] }),
  },
}

/** Addresses of the state of the server that answer a GET. */
function infoPaths(): Record<string, object> {
  const part = {
    name: 'part',
    in: 'path',
    required: true,
    schema: {
      type: 'string',
      enum: ['cacheInfo', 'entitySet', 'progressInfo', 'sessionInfo', 'metrics', 'locks', 'quotas', 'roles', 'rights'],
    },
    example: 'cacheInfo',
  }
  return {
    '/$info': get('info', 'server', 'State of the server', ANY_OBJECT),
    '/$info/{part}': { parameters: [part], ...get('info.part', 'server', 'A part of it', ANY_OBJECT) },
    '/$info/sessionInfo/release': {
      post: operation('releaseSessions', 'server', 'Ends all sessions', { responses: DONE }),
    },
  }
}

function backupPaths(): Record<string, object> {
  const responses = {
    '202': { description: 'A backup is being made.', content: jsonContent(ANY_OBJECT) },
    ...FAILURE,
  }
  return {
    '/$backup': {
      ...get('backups', 'server', 'Backups of the store', ANY_OBJECT),
      post: operation('backup', 'server', 'Makes a backup', { parameters: [ref('parameters', 'full')], responses }),
    },
  }
}

function jobPaths(): Record<string, object> {
  const state = {
    name: 'state',
    in: 'path',
    required: true,
    schema: { type: 'string', enum: ['waiting', 'ready', 'running', 'done', 'failed', 'cancelled'] },
    example: 'failed',
  }
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9a-f]{32}$' } }
  const action = { name: 'action', in: 'path', required: true, schema: { type: 'string', enum: ['cancel', 'replay'] } }
  const parameters = [ref('parameters', 'top'), ref('parameters', 'skip')]
  return {
    '/$jobs': get('jobs', 'server', 'Functions of jobs, and the number of jobs in each state', ANY_OBJECT),
    '/$jobs/{state}': {
      parameters: [state],
      get: operation('jobs.list', 'server', 'Jobs in a state', { parameters, responses: ok(ANY_OBJECT) }),
    },
    '/$jobs/failed/replay': {
      post: operation('jobs.replayFailed', 'server', 'Runs all jobs again that have failed', {
        responses: ok(ANY_OBJECT),
      }),
    },
    '/$jobs/{id}/{action}': {
      parameters: [id, action],
      post: operation('jobs.change', 'server', 'Cancels a job, or runs it again', { responses: ok(ANY_OBJECT) }),
    },
  }
}

function migratePaths(): Record<string, object> {
  const responses = {
    '202': { description: 'The change is being prepared.', content: jsonContent(ANY_OBJECT) },
    ...FAILURE,
  }
  return {
    '/$migrate': {
      ...get('modelChange', 'server', 'State of a change of the model', ANY_OBJECT),
      post: operation('migrate', 'server', 'Prepares the change to the model that the model file has now', {
        parameters: [ref('parameters', 'allowLoss')],
        responses,
      }),
      delete: operation('migrate.cancel', 'server', 'Removes what was prepared', { responses: ok(ANY_OBJECT) }),
    },
  }
}

/** @param dataClass parameter of the path */
function importPaths(dataClass: object): Record<string, object> {
  const names = [
    'rowsFormat',
    'existing',
    'trial',
    'columns',
    'delimiter',
    'decimal',
    'dateOrder',
    'encoding',
    'nulls',
    'preview',
    'importId',
  ]
  const rows = { schema: { type: 'string' } }
  return {
    '/$import': get('imports', 'server', 'Imports that are running', ANY_OBJECT),
    '/$import/{dataClass}': {
      parameters: [dataClass],
      post: operation('import', 'server', 'Saves the rows of a file as entities', {
        parameters: names.map(name => ref('parameters', name)),
        requestBody: { required: true, content: { 'text/csv': rows, 'application/x-ndjson': rows } },
        responses: {
          '200': { description: 'Counts, and the rows that could not be saved.', content: jsonContent(ANY_OBJECT) },
          ...FAILURE,
        },
      }),
    },
  }
}
