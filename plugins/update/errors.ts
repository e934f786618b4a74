import { defineErrors } from '../../kernel/api.ts'

export const UpdateErrors = defineErrors('UPDATE', {
  NOT_A_DATACLASS: {
    errCode: 1813,
    http: 400,
    message: (dataClass: string) =>
      `update works on the dataclass: send the entity to /rest/${dataClass}?$method=update with __KEY and __STAMP in the body`,
  },
})
