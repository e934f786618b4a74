import { defineErrors } from '../../kernel/api.ts'

export const LockErrors = defineErrors('LOCK', {
  NOT_BOOLEAN: {
    errCode: 1806,
    http: 400,
    message: (received: string) => `$lock is ${received}; true locks the entity and false unlocks it`,
  },
  NOT_AN_ENTITY: {
    errCode: 1806,
    http: 400,
    message: () => '$lock works on one entity, addressed by its key, as in /Employee(1)?$lock=true',
  },
})
