import { defineErrors } from '../../kernel/api.ts'

export const DeleteErrors = defineErrors('DELETE', {
  NOT_ENTITIES: {
    errCode: 1813,
    http: 400,
    message: () => 'delete works on entities; leave the attribute list out of the address',
  },
})
