import { defineErrors, errorsWith } from '../../engine/index.ts'

export const WebhooksErrors = defineErrors('WEBHOOKS', {
  ...errorsWith({ errCode: 1806, http: 404 })({
    UNKNOWN_HOOK: (name: string, known: string) => `there is no hook ${name}; there are ${known}`,
    UNKNOWN_LETTER: (id: string, hook: string) =>
      `hook ${hook} has no dead letter ${id}; GET /rest/$webhooks/${hook} lists them`,
    UNKNOWN_PART: (received: string) =>
      `$webhooks has hooks and their dead letters, /rest/$webhooks/name/id; ${received} is neither`,
  }),
  ...errorsWith({ errCode: 1806, http: 409 })({
    NO_BODY: (id: string) =>
      `event ${id} could not be read, so that it cannot be sent again; read the entity in its place`,
    IN_PROGRESS: (id: string) => `event ${id} is being sent already`,
  }),
  ...errorsWith({ errCode: 1813, http: 405, allow: ['GET'] })({
    WRONG_VERB: (verb: string) => `${verb} is for a dead letter: /rest/$webhooks/name/id`,
  }),
})
