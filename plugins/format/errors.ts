import { defineErrors } from '../../kernel/api.ts'

export const FormatErrors = defineErrors('FORMAT', {
  UNKNOWN_FORMAT: {
    errCode: 1801,
    http: 400,
    message: (format: string, known: readonly string[]) => `"${format}" format not supported; use ${known.join(', ')}`,
  },
})
