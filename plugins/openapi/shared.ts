import type { JsonSchema } from '../../engine/index.ts'
import { ANY_OBJECT, schemaRef } from './names.ts'

const text = { type: 'string' }
const integer = { type: 'integer' }
const flag = { type: 'boolean' }
const object = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
})

const BRIEF_LINK = object(
  { __deferred: object({ uri: { ...text, format: 'uri-reference' }, brief: text }, ['brief']) },
  ['__deferred'],
)

/** Schemas that do not depend on dataclasses. Their names have a dot, which no dataclass has. */
export const SHARED_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  'rest.Error': object(
    {
      message: { ...text, description: 'Message for people; its text may change.' },
      componentSignature: text,
      errCode: { ...integer, description: 'Code for programs; it does not change.' },
      attribute: { ...text, description: 'The attribute that the error concerns.' },
      extraDescription: { description: 'Values of an error object that an event returned.' },
    },
    ['message', 'componentSignature', 'errCode'],
  ),
  'rest.Errors': object(
    {
      __ERROR: { type: 'array', items: schemaRef('rest.Error'), minItems: 1, description: 'Errors, the cause first.' },
    },
    ['__ERROR'],
  ),
  'rest.Status': object(
    {
      success: flag,
      status: { ...integer, description: '1 to 8, as the 4D language numbers them; 2: the stamp has changed.' },
      statusText: text,
      lockKind: integer,
      lockKindText: text,
      lockInfo: ANY_OBJECT,
      wasNotLocked: flag,
    },
    ['success'],
  ),
  'rest.Failed': {
    ...object(
      {
        __INDEX: { ...integer, description: 'Position in the batch.' },
        __KEY: text,
        __STAMP: integer,
        __STATUS: schemaRef('rest.Status'),
        __ERROR: { type: 'array', items: schemaRef('rest.Error') },
      },
      ['__ERROR'],
    ),
    description: 'An entity that was not saved.',
  },
  'rest.Link': {
    ...object(
      {
        __deferred: object(
          {
            uri: { ...text, format: 'uri-reference' },
            __KEY: { ...text, description: 'Key of a related entity.' },
            image: flag,
          },
          ['uri'],
        ),
      },
      ['__deferred'],
    ),
    description: 'Address of a related entity, of related entities, of an image or of a blob.',
  },
  'rest.BriefEntity': {
    type: 'object',
    not: { additionalProperties: { not: BRIEF_LINK } },
    description: 'An entity with `$brief`: each longer value is a link with the beginning of the value.',
  },
  'rest.Brief': {
    description: 'Entities with `$brief`.',
    anyOf: [
      object({ __ENTITIES: { type: 'array', contains: schemaRef('rest.BriefEntity') } }, ['__ENTITIES']),
      { type: 'array', contains: schemaRef('rest.BriefEntity') },
    ],
  },
  'rest.Table': object(
    {
      __COUNT: integer,
      __FIRST: integer,
      schema: { type: 'array', items: ANY_OBJECT },
      rows: { type: 'array', items: object({ values: { type: 'array' } }, ['values']) },
      filtersApplied: flag,
    },
    ['__COUNT', 'schema', 'rows'],
  ),
  'rest.Upload': {
    ...object({ ID: { ...text, description: 'Id of an upload by `$upload`.' } }, ['ID']),
    description: 'An uploaded file, which becomes the value of an image or a blob.',
  },
  'rest.Ok': object({ ok: { type: 'boolean', const: true } }, ['ok']),
  'rest.Count': {
    description: 'What `validate` returns without failures, or a save with `$returning=none`.',
    anyOf: [
      schemaRef('rest.Ok'),
      object(
        {
          __COUNT: { type: 'integer', description: 'Number of entities in the body.' },
          __SAVED: { type: 'integer', description: 'Number of entities that were saved.' },
          __ENTITIES: { type: 'array', items: schemaRef('rest.Failed'), minItems: 1 },
        },
        ['__COUNT', '__SAVED'],
      ),
    ],
  },
  'rest.Result': object({ result: {} }, ['result']),
}

/** JSON in a string; few generators support `content` of parameters. */
export const JSON_TEXT: JsonSchema = { type: 'string', contentMediaType: 'application/json' }

const condition = (name: string, description: string): object => ({ name, in: 'header', description, schema: text })

/** Parameters other than those of plugins. */
export const SHARED_PARAMETERS: Readonly<Record<string, object>> = {
  'rest.set': { name: 'id', in: 'path', required: true, description: 'Id of an entity set.', schema: text },
  'rest.keys': {
    name: 'keys',
    in: 'path',
    required: true,
    description: 'More keys, separated by commas.',
    schema: text,
  },
  'rest.ifNoneMatch': condition(
    'If-None-Match',
    'Entity tags that the client has; one that is current is answered by 304.',
  ),
  'rest.ifMatch': condition(
    'If-Match',
    'Entity tags, or stamps in quotes: another version is answered by 412, and stays.',
  ),
}
