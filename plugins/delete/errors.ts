import { defineErrors, errorsWith } from '../../engine/index.ts'

export const DeleteErrors = defineErrors('DELETE', {
  ...errorsWith({ errCode: 1813, http: 400 })({
    NOT_ENTITIES: () => 'delete works on entities; leave the attribute list out of the address',
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    /** Thrown since a condition that is present but empty would select the whole dataclass. */
    EMPTY_CONDITION: (what: string, dataClass: string) =>
      `${what}, so nothing was deleted; POST /rest/${dataClass}?$method=delete without it deletes all entities of ${dataClass}`,
    UNKNOWN_PARAMETER: (name: string, hint: string) =>
      `"${name}" is not a parameter of a deletion, so nothing was deleted${hint}`,
    REPEATED: (name: string) =>
      `${name} is given more than once, so nothing was deleted; join the conditions with "and"`,
    COMBINED: (name: string, otherName: string) =>
      `"${name}" cannot be combined with "${otherName}" in a deletion; send one of them`,
    PAGED: (name: string) =>
      `${name} does not limit a deletion, which deletes all that is selected; narrow it with $filter or keys`,
    REFRESHED: () =>
      '$refresh would select other entities than the set has, so nothing was deleted; read the set with $refresh first',
    BODY: () =>
      'a deletion has no body: the address and $filter select what is deleted, as in /Employee(1)?$method=delete',
  }),
})
