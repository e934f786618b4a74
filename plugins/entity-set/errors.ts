import { defineErrors, errorsWith } from '../../engine/index.ts'

export const EntitySetRequestErrors = defineErrors('ENTITY_SET_REQUEST', {
  ...errorsWith({ errCode: 1813, http: 400 })({
    NOT_ON_ENTITIES: (dataClass: string) =>
      `an entity set is addressed at its dataclass: /rest/${dataClass}/$entityset/{id}`,
    NOT_A_COLLECTION: () =>
      'an entity set is made of a collection, this is one entity; for related entities use $method=subentityset',
    NOT_A_SET: (parameter: string) =>
      `${parameter} works on an entity set: /rest/{dataClass}/$entityset/{id}?${parameter}`,
  }),
  ...errorsWith({ errCode: 1815, http: 400 })({
    NOT_RELATED: (problem: string) =>
      `subentityset is not applicable, ${problem}: use /rest/{dataClass}({key})/{relation}?$expand={relation}&$method=subentityset`,
  }),
  ...errorsWith({ errCode: 1818, http: 400 })({
    UNKNOWN_OPERATOR: (received: string) =>
      received === ''
        ? '$otherCollection needs a $logicOperator: AND, OR, EXCEPT or INTERSECT'
        : `"${received}" is not a valid logical operator; use AND, OR, EXCEPT or INTERSECT`,
  }),
  ...errorsWith({ errCode: 1819, http: 400 })({
    NO_OTHER_COLLECTION: () => '$logicOperator needs a second collection: $otherCollection={id of an entity set}',
  }),
  ...errorsWith({ errCode: 1813, http: 405, allow: ['POST'] })({
    RELEASE_VERB: (verb: string) => `$release is sent with POST and a JSON array of ids, this was ${verb}`,
  }),
  ...errorsWith({ errCode: 1806, http: 404 })({
    UNKNOWN_COMMAND: () => 'entity sets without a dataclass can only be released: POST /rest/$entityset/$release',
  }),
})
