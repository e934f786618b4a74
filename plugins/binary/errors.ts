import { defineErrors } from '../../kernel/api.ts'

export const BinaryRequestErrors = defineErrors('BINARY_REQUEST', {
  SIDE: {
    errCode: 1806,
    http: 400,
    message: (parameter: string, received: string, limit: number) =>
      `${parameter}=${received} is not a valid length; send a whole number of pixels from 1 to ${limit}`,
  },
  TOO_MANY_CONVERSIONS: {
    errCode: 1200,
    http: 503,
    message: (limit: number) =>
      `${limit} images are waiting to be converted, which is the limit; try again in a moment`,
  },
})
