import { defineErrors } from '../../kernel/api.ts'

export const ComputeErrors = defineErrors('COMPUTE', {
  UNKNOWN_KEYWORD: {
    errCode: 1817,
    http: 400,
    message: (keyword: string, known: string) => `$compute=${keyword} is not known; it is one of ${known}`,
  },
})
