import { defineErrors } from '../../kernel/api.ts'

export const WebhooksErrors = defineErrors('WEBHOOKS', {
  UNKNOWN_HOOK: {
    errCode: 1806,
    http: 404,
    message: (name: string, known: string) => `there is no hook ${name}; there are ${known}`,
  },
  UNKNOWN_LETTER: {
    errCode: 1806,
    http: 404,
    message: (id: string, hook: string) =>
      `hook ${hook} has no dead letter ${id}; GET /rest/$webhooks/${hook} lists them`,
  },
  UNKNOWN_PART: {
    errCode: 1806,
    http: 404,
    message: (received: string) =>
      `$webhooks has hooks and their dead letters, /rest/$webhooks/name/id; ${received} is neither`,
  },
  NO_BODY: {
    errCode: 1806,
    http: 409,
    message: (id: string) =>
      `event ${id} could not be read, so that it cannot be sent again; read the entity in its place`,
  },
  IN_PROGRESS: {
    errCode: 1806,
    http: 409,
    message: (id: string) => `event ${id} is being sent already`,
  },
  WRONG_VERB: {
    errCode: 1813,
    http: 405,
    allow: ['GET'],
    message: (verb: string) => `${verb} is for a dead letter: /rest/$webhooks/name/id`,
  },
})
