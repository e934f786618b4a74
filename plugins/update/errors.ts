import { defineErrors } from '../../kernel/api.ts'

export const UpdateErrors = defineErrors('UPDATE', {
  /** Thrown because some clients read with POST: treated as a save, such a request would create an entity. */
  READS: {
    errCode: 1806,
    http: 400,
    message: (parameter: string, dataClass: string) =>
      `${parameter} selects entities and a save selects none, so nothing was saved; read with GET or POST /rest/${dataClass}/$query`,
  },
  RETURNING: {
    errCode: 1806,
    http: 400,
    message: (value: string) => `$returning is "${value}"; it takes none or entities`,
  },
  NOT_A_DATACLASS: {
    errCode: 1813,
    http: 400,
    message: (dataClass: string) =>
      `update works on the dataclass: send the entity to /rest/${dataClass}?$method=update with __KEY and __STAMP in the body`,
  },
})
