import { defineErrors, errorsWith } from '../engine/index.ts'

/** Errors of webhooks that others send to this server. */
export const WebhookErrors = defineErrors('WEBHOOK', {
  ...errorsWith({ errCode: 1806, http: 400 })({
    NO_HEADER: (name: string) =>
      `the request has no header ${name}; webhooks have webhook-id, webhook-timestamp and webhook-signature`,
    BAD_HEADER: (name: string, expected: string) => `the header ${name} is not valid; it is ${expected}`,
    NOT_JSON: () => 'the body of the webhook is not JSON',
  }),
  ...errorsWith({ errCode: 1561, http: 401 })({
    /** @param side `ahead of` or `behind` */
    OUT_OF_TIME: (seconds: number, side: string, toleranceSeconds: number) =>
      `the webhook is ${seconds} seconds ${side} the clock of this server; ${toleranceSeconds} are accepted`,
    WRONG_SIGNATURE: () => 'no signature of the webhook is that of its content with the secret of this server',
  }),
})
