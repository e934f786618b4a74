import { defineErrors } from '../../kernel/api.ts'

export const MetricsErrors = defineErrors('METRICS', {
  ADMINISTRATORS_ONLY: {
    errCode: 1611,
    http: 401,
    message: (isGuest: boolean) =>
      isGuest
        ? 'metrics are for administrators: send a key or a token'
        : 'metrics are for administrators: the session lacks the privilege WebAdmin',
  },
})
