import { defineErrors } from '../../kernel/api.ts'

export const EntitySetRequestErrors = defineErrors('ENTITY_SET_REQUEST', {
  NOT_ON_ENTITIES: {
    errCode: 1813,
    http: 400,
    message: (dataClass: string) => `an entity set is addressed at its dataclass: /rest/${dataClass}/$entityset/{id}`,
  },
  NOT_A_COLLECTION: {
    errCode: 1813,
    http: 400,
    message: () =>
      'an entity set is made of a collection, this is one entity; for related entities use $method=subentityset',
  },
  NOT_A_SET: {
    errCode: 1813,
    http: 400,
    message: (parameter: string) =>
      `${parameter} works on an entity set: /rest/{dataClass}/$entityset/{id}?${parameter}`,
  },
  NOT_RELATED: {
    errCode: 1815,
    http: 400,
    message: (problem: string) =>
      `subentityset is not applicable, ${problem}: use /rest/{dataClass}({key})/{relation}?$expand={relation}&$method=subentityset`,
  },
  UNKNOWN_OPERATOR: {
    errCode: 1818,
    http: 400,
    message: (received: string) =>
      received === ''
        ? '$otherCollection needs a $logicOperator: AND, OR, EXCEPT or INTERSECT'
        : `"${received}" is not a valid logical operator; use AND, OR, EXCEPT or INTERSECT`,
  },
  NO_OTHER_COLLECTION: {
    errCode: 1819,
    http: 400,
    message: () => '$logicOperator needs a second collection: $otherCollection={id of an entity set}',
  },
  RELEASE_VERB: {
    errCode: 1813,
    http: 405,
    allow: ['POST'],
    message: (verb: string) => `$release is sent with POST and a JSON array of ids, this was ${verb}`,
  },
  UNKNOWN_COMMAND: {
    errCode: 1806,
    http: 404,
    message: () => 'entity sets without a dataclass can only be released: POST /rest/$entityset/$release',
  },
})
