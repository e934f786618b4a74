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
      message: { ...text, description: 'For people; its text may change.' },
      componentSignature: text,
      errCode: { ...integer, description: 'For programs; it does not change.' },
      attribute: { ...text, description: 'The attribute that the error is about.' },
      extraDescription: { description: 'Values of an error object of an event.' },
    },
    ['message', 'componentSignature', 'errCode'],
  ),
  'rest.Errors': object(
    {
      __ERROR: { type: 'array', items: schemaRef('rest.Error'), minItems: 1, description: 'The cause first.' },
    },
    ['__ERROR'],
  ),
  'rest.Status': object(
    {
      success: flag,
      status: { ...integer, description: '1 to 8, as the language of 4D numbers them; 2: the stamp has changed.' },
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
    description: 'Address of a related entity, of related entities, of an image or a blob.',
  },
  'rest.BriefEntity': {
    type: 'object',
    not: { additionalProperties: { not: BRIEF_LINK } },
    description: 'An entity with `$brief`: values that are longer are links with their beginning.',
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
    ...object({ ID: { ...text, description: 'Of an upload by `$upload`.' } }, ['ID']),
    description: 'An uploaded file, which becomes the value of an image or a blob.',
  },
  'rest.Ok': object({ ok: { type: 'boolean', const: true } }, ['ok']),
  'rest.Result': object({ result: {} }, ['result']),
  'rest.Attribute': object(
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
      default: { description: 'Value of a new entity for which none is given.' },
      readOnly: flag,
      unrestricted: flag,
      path: text,
      foreignKey: text,
      inverseName: text,
      reversePath: flag,
    },
    ['name', 'kind', 'type'],
  ),
  'rest.Method': object({ name: text, applyTo: text, scope: text, allowedOnHTTPGET: flag, exposed: flag }, [
    'name',
    'allowedOnHTTPGET',
    'exposed',
  ]),
  'rest.DataClass': object(
    {
      name: text,
      className: text,
      collectionName: text,
      tableNumber: integer,
      scope: text,
      dataURI: text,
      description: text,
      unique: { type: 'array', items: { type: 'array', items: text } },
      defaultTopSize: integer,
      extraProperties: ANY_OBJECT,
      attributes: { type: 'array', items: schemaRef('rest.Attribute') },
      key: { type: 'array', items: object({ name: text }, ['name']) },
      methods: { type: 'array', items: schemaRef('rest.Method') },
    },
    ['name', 'attributes', 'key'],
  ),
  'rest.Catalog': object(
    {
      dataClass: { type: 'array', items: object({ name: text, uri: text, dataURI: text }, ['name', 'uri', 'dataURI']) },
      dataClasses: { type: 'array', items: ANY_OBJECT },
      singletons: {
        type: 'array',
        items: object({ name: text, methods: { type: 'array', items: schemaRef('rest.Method') } }, ['name', 'methods']),
      },
      methods: { type: 'array', items: schemaRef('rest.Method') },
    },
    ['dataClasses'],
  ),
}

const query = (name: string, schema: JsonSchema, description: string, example?: unknown): object => ({
  name,
  in: 'query',
  description,
  schema,
  ...(example !== undefined && { example }),
})
const condition = (name: string, description: string): object => ({ name, in: 'header', description, schema: text })
const count = { type: 'integer' }
/** JSON in a text; generators that know `content` of parameters are few. */
export const JSON_TEXT: JsonSchema = { type: 'string', contentMediaType: 'application/json' }
export const VALUES_SCHEMA: JsonSchema = { anyOf: [{ type: 'array', items: {} }, ANY_OBJECT] }
const VALUES = { ...JSON_TEXT, contentSchema: VALUES_SCHEMA }
const LOCK = query('$lock', flag, 'Locks or unlocks the entity for the session.', true)

/** Parameters that mean the same for every dataclass, by name without `$`. */
export const SHARED_PARAMETERS: Readonly<Record<string, object>> = {
  params: query(
    '$params',
    VALUES,
    'Values of the placeholders `:1`, `:2` … of `$filter`, as JSON: `["Paris", true]`.',
    '[]',
  ),
  top: query('$top', count, 'Entities of the page; negative for all.', 10),
  limit: query('$limit', count, 'The same; `$top` has precedence.', 5),
  skip: query('$skip', { type: 'integer', minimum: 0 }, 'Entities before the page.', 0),
  asArray: query('$asArray', flag, 'A bare array in place of the collection.', true),
  exact: query('$exact', flag, 'Vectors are compared one by one, without an index.', true),
  format: query(
    '$format',
    { type: 'string', enum: ['json', 'csv', 'ndjson', 'looker'] },
    'Form of the answer. `csv` and `ndjson` are of all entities unless `$top` is given.',
    'looker',
  ),
  queryplan: query('$queryplan', flag, 'The plan of the filter in `__queryPlan`.', true),
  querypath: query('$querypath', flag, 'What its steps took and found, in `__queryPath`.', true),
  brief: query(
    '$brief',
    { type: 'integer', minimum: 16 },
    'Bytes; longer texts, objects and vectors are sent as links with their beginning.',
    200,
  ),
  prettyprint: query('$prettyprint', flag, 'Line breaks and indentation.', true),
  prettyformatting: query('$prettyformatting', flag, 'The same as `$prettyprint`.', true),
  keep: query('$method', { type: 'string', const: 'entityset' }, 'Keeps the selection as an entity set.', 'entityset'),
  keepRelated: query(
    '$method',
    { type: 'string', const: 'subentityset' },
    'Keeps the related entities as an entity set, and answers with them alone.',
    'subentityset',
  ),
  timeout: query('$timeout', count, 'Seconds that an entity set lives without use, or an upload lives.', 60),
  savedfilter: query('$savedfilter', text, '`true`: the set can be made again by its filter after its end.', 'true'),
  savedorderby: query('$savedorderby', text, 'The same with its order.', 'true'),
  refreshSet: query('$refresh', flag, 'Makes the set again by its saved query.'),
  clean: query('$clean', flag, 'Leaves out entities that have been deleted.', true),
  logicOperator: query(
    '$logicOperator',
    { type: 'string', enum: ['AND', 'OR', 'EXCEPT', 'INTERSECT'] },
    'Combines the set with that of `$otherCollection`. `INTERSECT` answers whether both have an entity.',
  ),
  otherCollection: query('$otherCollection', text, 'Id of the other set.'),
  release: query(
    '$method',
    { type: 'string', enum: ['entityset', 'release'] },
    '`release` ends the set; `entityset` keeps what it becomes.',
  ),
  distinct: query('$distinct', flag, 'The different values of the first attribute, ascending.', true),
  counts: query(
    '$counts',
    flag,
    'With `$distinct`: each value with its number of entities, the most frequent first.',
    true,
  ),
  compute: query(
    '$compute',
    {
      type: 'string',
      enum: ['count', 'sum', 'average', 'min', 'max', 'countDistinct', 'sumDistinct', 'averageDistinct', '$all'],
    },
    'Aggregate of the attributes in place of entities.',
    'count',
  ),
  save: query(
    '$method',
    { type: 'string', enum: ['update', 'validate'] },
    '`validate` saves nothing and answers with what is wrong.',
    'update',
  ),
  saveOrDrop: query(
    '$method',
    { type: 'string', enum: ['update', 'validate', 'delete'] },
    '`validate` saves nothing and answers with what is wrong. `delete` takes no body, and deletes what the filter selects.',
    'update',
  ),
  drop: query('$method', { type: 'string', const: 'delete' }, 'Deletes; the verb DELETE does so without it.'),
  dropFilter: query('$filter', text, 'With `$method=delete`: what is deleted.'),
  dropParams: query('$params', VALUES, 'Values of its placeholders, as JSON.'),
  mustDrop: {
    ...query('$method', { type: 'string', const: 'delete' }, 'Deletes, as the verb DELETE does.'),
    required: true,
  },
  atomic: query('$atomic', flag, 'Saves or deletes everything or nothing.', true),
  atOnce: query('$atOnce', flag, 'The same as `$atomic`.', true),
  atonce: query('$atonce', flag, 'The same as `$atomic`.', true),
  refresh: query('$refresh', flag, 'Answers what would be saved and saves nothing.', true),
  version: query('$version', text, 'Key for caches: with the current stamp an answer may be kept.', '1'),
  imageformat: {
    ...query(
      '$imageformat',
      { type: 'string', enum: ['best', 'png', 'jpeg', 'gif', 'tiff', 'webp'] },
      'Form of the image.',
      'best',
    ),
    required: true,
  },
  width: query('$width', { type: 'integer', minimum: 1 }, 'Maximum width.', 64),
  height: query('$height', { type: 'integer', minimum: 1 }, 'Maximum height.', 64),
  binary: { ...query('$binary', { type: 'boolean', const: true }, 'The bytes of the blob.', true), required: true },
  lock: LOCK,
  mustLock: { ...LOCK, required: true },
  rawPict: query('$rawPict', text, '`true` or a media type: the body is an image.'),
  subOrderby: query('$subOrderby', text, 'Order of the set of related entities.', '__KEY desc'),
  subExpand: query('$subExpand', text, 'Relations that are expanded in it.'),
  dates: query('$dates', { type: 'string', enum: ['date', 'text'] }, 'How dates with a time are read.', 'text'),
  rowsFormat: query(
    '$format',
    { type: 'string', enum: ['csv', 'ndjson', 'json'] },
    'Format of the rows; otherwise the content type says it.',
    'csv',
  ),
  existing: query(
    '$existing',
    { type: 'string', enum: ['reject', 'update', 'skip'] },
    'A row whose key exists.',
    'update',
  ),
  trial: query('$trial', flag, 'All rows are checked, none is saved.', true),
  columns: query(
    '$columns',
    text,
    'JSON object: attributes by the names of columns, null for one that is left out, or `{"attribute":"employer","by":"Company.name"}`.',
  ),
  delimiter: query('$delimiter', text, 'Between CSV fields: a character, or `tab`.'),
  decimal: query('$decimal', { type: 'string', enum: ['.', ','] }, 'Decimal character of numbers.'),
  dateOrder: query('$dates', { type: 'string', enum: ['ymd', 'dmy', 'mdy'] }, 'Order of day, month and year.'),
  encoding: query('$encoding', text, 'Encoding of the body, such as `windows-1252`.'),
  nulls: query('$nulls', text, 'Texts of CSV that are null, with commas between, except in attributes of texts.'),
  preview: query(
    '$preview',
    { type: 'integer', minimum: 1, maximum: 100 },
    'Number of rows that are read and checked; none is saved. The beginning of a file is enough.',
  ),
  importId: query('$id', text, 'Name of the import, for its end.'),
  full: query('$full', flag, 'The data file is copied, also where the commits since the last backup would do.', true),
  allowLoss: query('$allowLoss', flag, 'Also where the changed model loses data.', true),
  module: query('$module', flag, 'The runtime is imported from `tesser/client`.', true),
  set: { name: 'id', in: 'path', required: true, description: 'Id of an entity set.', schema: text },
  keys: { name: 'keys', in: 'path', required: true, description: 'Further keys, with commas between.', schema: text },
  ifNoneMatch: condition('If-None-Match', 'Entity tags that the client has; one that is current is answered by 304.'),
  ifMatch: condition('If-Match', 'Entity tags, or stamps in quotes: another version is answered by 412, and stays.'),
}
