import { defineErrors } from '../../kernel/api.ts'

export const BriefErrors = defineErrors('BRIEF', {
  NOT_A_LENGTH: {
    errCode: 1806,
    http: 400,
    message: (received: string) => `$brief=${received} is not a valid length; send a whole number of bytes, 16 or more`,
  },
})
