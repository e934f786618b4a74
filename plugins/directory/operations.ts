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
    doc: 'Starts a session; its cookie is in the answer',
    body: {
      schema: {
        type: 'array',
        prefixItems: [
          { ...text, title: 'user' },
          { ...text, title: 'password' },
        ],
        minItems: 2,
        description: 'A third item, a number, is the seconds that the session lives without use.',
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
    doc: 'The user of the session, null for a guest, with privileges and whether it may administrate the server',
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
