import { defineErrors } from '../../kernel/api.ts'

export const DeleteErrors = defineErrors('DELETE', {
  NOT_ENTITIES: {
    errCode: 1813,
    http: 400,
    message: () => 'delete works on entities; leave the attribute list out of the address',
  },
  /** Thrown since a condition that is present but empty would select the whole dataclass. */
  EMPTY_CONDITION: {
    errCode: 1806,
    http: 400,
    message: (what: string, dataClass: string) =>
      `${what}, so nothing was deleted; POST /rest/${dataClass}?$method=delete without it deletes all entities of ${dataClass}`,
  },
  UNKNOWN_PARAMETER: {
    errCode: 1806,
    http: 400,
    message: (name: string, hint: string) =>
      `"${name}" is not a parameter of a deletion, so nothing was deleted${hint}`,
  },
  REPEATED: {
    errCode: 1806,
    http: 400,
    message: (name: string) =>
      `${name} is given more than once, so nothing was deleted; join the conditions with "and"`,
  },
  PAGED: {
    errCode: 1806,
    http: 400,
    message: (name: string) =>
      `${name} does not limit a deletion, which deletes all that is selected; narrow it with $filter or keys`,
  },
  REFRESHED: {
    errCode: 1806,
    http: 400,
    message: () =>
      '$refresh would select other entities than the set has, so nothing was deleted; read the set with $refresh first',
  },
  BODY: {
    errCode: 1806,
    http: 400,
    message: () =>
      'a deletion has no body: the address and $filter select what is deleted, as in /Employee(1)?$method=delete',
  },
})
