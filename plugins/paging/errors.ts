import { defineErrors } from '../../kernel/api.ts'

export const PagingErrors = defineErrors('PAGING', {
  NOT_A_COUNT: {
    errCode: 1806,
    http: 400,
    message: (parameter: string, received: string, expected: string) =>
      `${parameter}=${received} is not a number of entities; send ${expected}`,
  },
})
