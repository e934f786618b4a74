import type { JsonSchema } from '../../engine/index.ts'
import type { ServiceSpec } from '../../kernel/api.ts'

const text = { type: 'string' }
const result = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { result: schema },
  required: ['result'],
})
const BOOLEAN = result({ type: 'boolean' })

export const OPERATIONS: ServiceSpec['operations'] = {
  'POST /login': {
    id: 'login',
    doc: 'Starts a session; the answer sets its cookie',
    body: {
      schema: {
        type: 'array',
        prefixItems: [
          { ...text, title: 'user' },
          { ...text, title: 'password' },
        ],
        minItems: 2,
        description: 'A third item, a number, is the time in seconds without use after which the session ends.',
      },
      example: ['ada', 'secret'],
    },
    answers: { 200: { schema: BOOLEAN } },
  },
  'POST /logout': {
    id: 'logout',
    doc: 'Ends the session',
    answers: { 200: { schema: result({ type: 'boolean', const: true }) } },
  },
  'GET /currentUser': {
    id: 'currentUser',
    doc: 'The user of the session, null for a guest, with privileges and whether the user may administer the server',
    answers: {
      200: {
        schema: {
          type: 'object',
          properties: {
            result: {
              type: ['object', 'null'],
              properties: { userName: text, fullName: text, ID: { type: ['string', 'number'] } },
            },
            privileges: { type: 'array', items: text },
            administrator: { type: 'boolean' },
          },
          required: ['result', 'privileges', 'administrator'],
        },
      },
    },
  },
  'POST /currentUserBelongsTo': {
    id: 'currentUserBelongsTo',
    doc: 'Whether the user is in the group that the body names',
    body: { schema: { type: ['array', 'string'] }, example: ['staff'] },
    answers: { 200: { schema: BOOLEAN } },
  },
}
