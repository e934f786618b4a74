import type { JsonSchema } from '../../engine/index.ts'
import type { ServiceSpec } from '../../kernel/api.ts'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const integer = { type: 'integer' }
const anyObject = { type: 'object', additionalProperties: true }
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })
const object = (properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema => ({
  type: 'object',
  properties,
  required,
})

const METHOD: JsonSchema = {
  $id: 'rest.Method',
  ...object({ name: text, applyTo: text, scope: text, allowedOnHTTPGET: flag, exposed: flag }, [
    'name',
    'allowedOnHTTPGET',
    'exposed',
  ]),
}

const ATTRIBUTE: JsonSchema = {
  $id: 'rest.Attribute',
  ...object(
    {
      name: text,
      kind: { type: 'string', enum: ['storage', 'relatedEntity', 'relatedEntities', 'calculated', 'alias'] },
      type: text,
      scope: text,
      description: text,
      fieldPos: integer,
      identifying: flag,
      indexed: flag,
      unique: flag,
      mandatory: flag,
      choices: { ...list(text), description: 'All values that the attribute can have.' },
      default: { description: 'Value for new entities that are created without one.' },
      readOnly: flag,
      unrestricted: flag,
      path: text,
      foreignKey: text,
      inverseName: text,
      reversePath: flag,
    },
    ['name', 'kind', 'type'],
  ),
}

const DATA_CLASS: JsonSchema = {
  $id: 'rest.DataClass',
  ...object(
    {
      name: text,
      className: text,
      collectionName: text,
      tableNumber: integer,
      scope: text,
      dataURI: text,
      description: text,
      unique: list(list(text)),
      defaultTopSize: integer,
      extraProperties: anyObject,
      attributes: list(ATTRIBUTE),
      key: list(object({ name: text }, ['name'])),
      methods: list(METHOD),
    },
    ['name', 'attributes', 'key'],
  ),
}

const CATALOG: JsonSchema = {
  $id: 'rest.Catalog',
  ...object(
    {
      dataClass: list(object({ name: text, uri: text, dataURI: text }, ['name', 'uri', 'dataURI'])),
      dataClasses: list(anyObject),
      singletons: list(object({ name: text, methods: list(METHOD) }, ['name', 'methods'])),
      methods: list(METHOD),
    },
    ['dataClasses'],
  ),
}

export const OPERATIONS: ServiceSpec['operations'] = {
  'GET /': { id: 'catalog', doc: 'Names and addresses of the dataclasses', answers: { 200: { schema: CATALOG } } },
  'GET /$all': { id: 'catalog.all', doc: 'Descriptions of all dataclasses', answers: { 200: { schema: CATALOG } } },
  'GET /{dataClass}': {
    id: 'catalog.dataClass',
    doc: 'Description of a dataclass, or of several, separated by commas',
    path: {
      dataClass: {
        schema: { type: 'string', format: 'dataclass' },
        doc: 'Name of a dataclass, or several names, separated by commas.',
      },
    },
    answers: { 200: { schema: { anyOf: [DATA_CLASS, CATALOG] } } },
  },
}
