import { DONE, type MethodSpec, type ParameterSpec, type ServiceSpec } from '../../kernel/api.ts'

const text = { type: 'string' }
const flag = { type: 'boolean' }
const section = '4.5'

export const LOGIC_OPERATOR: ParameterSpec = {
  schema: { type: 'string', enum: ['AND', 'OR', 'EXCEPT', 'INTERSECT'] },
  doc: 'Combines the set with the set that `$otherCollection` names. `INTERSECT` returns whether the sets have an entity in common.',
  on: ['openSet'],
  section,
}

export const PARAMETERS: readonly (readonly [`$${string}`, ParameterSpec])[] = [
  ['$otherCollection', { schema: text, doc: 'Id of the other entity set.', on: ['openSet'], section }],
  [
    '$clean',
    { schema: flag, doc: 'Leaves out entities that have been deleted.', example: true, on: ['openSet'], section },
  ],
  ['$refresh', { schema: flag, doc: 'Creates the set again from its saved query.', on: ['openSet'], section }],
  [
    '$timeout',
    {
      schema: { type: 'integer' },
      doc: 'Time in seconds without use after which the entity set ends.',
      example: 60,
      on: ['list', 'related', 'openSet'],
      section,
    },
  ],
  [
    '$savedfilter',
    {
      schema: text,
      doc: '`true`, or a query: after the set ends, it can be created again from its filter.',
      example: 'true',
      on: ['list', 'openSet'],
      section,
    },
  ],
  [
    '$savedorderby',
    {
      schema: text,
      doc: '`true`, or an order: the same as `$savedfilter`, for the order.',
      example: 'true',
      on: ['list', 'openSet'],
      section,
    },
  ],
  [
    '$subOrderby',
    { schema: text, doc: 'Order of the set of related entities.', example: '__KEY desc', on: ['related'], section },
  ],
  [
    '$subExpand',
    { schema: text, doc: 'Relations to expand in the set of related entities.', on: ['related'], section },
  ],
]

export const METHODS = {
  entityset: {
    verbs: ['GET', 'POST'],
    doc: 'Keeps the selection as an entity set.',
    on: ['list', 'getSeveral', 'openSet'],
    section,
  },
  subentityset: {
    verbs: ['GET', 'POST'],
    doc: 'Keeps the related entities as an entity set, and returns only them.',
    on: ['related'],
    section,
  },
  release: { verbs: ['GET', 'POST'], doc: 'Ends the entity set.', on: ['openSet'], section },
} as const satisfies Record<string, MethodSpec>

export const ENTITY_SET: ServiceSpec = {
  verbs: ['POST'],
  doc: 'Ends entity sets of any dataclass.',
  section,
  tag: 'data',
  operations: {
    'POST /$release': {
      id: 'releaseSets',
      doc: 'Ends the entity sets whose ids are in the body',
      body: {
        schema: { $id: 'rest.SetIds', type: 'array', items: text, description: 'Ids of entity sets.' },
        example: [],
      },
      answers: { 200: DONE },
    },
  },
}
