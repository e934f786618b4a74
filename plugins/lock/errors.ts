import { defineErrors, errorsWith } from '../../engine/index.ts'

export const LockErrors = defineErrors('LOCK', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    NOT_BOOLEAN: (received: string) => `$lock is ${received}; true locks the entity and false unlocks it`,
    NOT_AN_ENTITY: () => '$lock works on one entity, addressed by its key, as in /Employee(1)?$lock=true',
  }),
})
