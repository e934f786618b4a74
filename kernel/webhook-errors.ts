import { defineErrors } from '../engine/index.ts'

/** Errors of webhooks that others send to this server. */
export const WebhookErrors = defineErrors('WEBHOOK', {
  NO_HEADER: {
    errCode: 1806,
    http: 400,
    message: (name: string) =>
      `the request has no header ${name}; webhooks have webhook-id, webhook-timestamp and webhook-signature`,
  },
  BAD_HEADER: {
    errCode: 1806,
    http: 400,
    message: (name: string, expected: string) => `the header ${name} is not valid; it is ${expected}`,
  },
  OUT_OF_TIME: {
    errCode: 1561,
    http: 401,
    /** @param side `ahead of` or `behind` */
    message: (seconds: number, side: string, toleranceSeconds: number) =>
      `the webhook is ${seconds} seconds ${side} the clock of this server; ${toleranceSeconds} are accepted`,
  },
  WRONG_SIGNATURE: {
    errCode: 1561,
    http: 401,
    message: () => 'no signature of the webhook is that of its content with the secret of this server',
  },
  NOT_JSON: {
    errCode: 1806,
    http: 400,
    message: () => 'the body of the webhook is not JSON',
  },
})
