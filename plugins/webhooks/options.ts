import { type PluginEngine, type Static, Type, webhookSecretProblem } from '../../kernel/api.ts'
import { addressProblem } from './addresses.ts'

const EVENTS = ['created', 'updated', 'deleted'] as const

const HOOK = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$', description: 'Name in logs, metrics and `$webhooks`.' }),
    url: Type.String({ minLength: 1, maxLength: 2_000, description: 'Address that gets the events by POST.' }),
    secret: Type.String({ description: '`whsec_` and 24 to 64 bytes as base64, with which events are signed.' }),
    dataClass: Type.String({ description: 'Dataclass whose entities are watched.' }),
    filter: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 10_000,
        description: 'Query, as in `$filter`: only entities that satisfy it.',
      }),
    ),
    events: Type.Array(Type.Unsafe<(typeof EVENTS)[number]>({ type: 'string', enum: [...EVENTS] }), {
      default: [...EVENTS],
      minItems: 1,
      uniqueItems: true,
      description: 'Which of `created`, `updated` and `deleted` are sent.',
    }),
    attributes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[^,]+$', maxLength: 500 }), {
        minItems: 1,
        description: 'Attributes that are sent, as in `$attributes`.',
      }),
    ),
    allowPrivate: Type.Boolean({
      default: false,
      description: 'Allows addresses of this machine and of private networks.',
    }),
    concurrency: Type.Integer({ default: 8, minimum: 1, maximum: 64, description: 'Requests at a time.' }),
    timeoutSeconds: Type.Number({ default: 10, minimum: 0.05, maximum: 60, description: 'Time for an attempt.' }),
    firstRetrySeconds: Type.Number({
      default: 5,
      minimum: 0.01,
      maximum: 3_600,
      description: 'Time to the second attempt.',
    }),
    maxRetrySeconds: Type.Number({
      default: 3_600,
      minimum: 0.01,
      maximum: 86_400,
      description: 'Maximum time between two.',
    }),
    maxAgeHours: Type.Number({
      default: 72,
      minimum: 0,
      maximum: 8_760,
      description: 'Time from the first attempt after which an event is given up.',
    }),
    deadLetters: Type.Integer({
      default: 1_000,
      minimum: 0,
      maximum: 10_000,
      description: 'Events that were given up and are kept; beyond that the oldest are removed.',
    }),
  },
  { additionalProperties: false },
)

export const OPTIONS = Type.Object({
  hooks: Type.Array(HOOK, { default: [], maxItems: 100, description: 'Receivers of events.' }),
  logBytes: Type.Integer({
    default: 2 ** 30,
    minimum: 2 ** 20,
    description: 'Size up to which the log keeps commits that a hook has not read.',
  }),
})

export type WebhookOptions = Static<typeof OPTIONS>
export type HookOptions = Static<typeof HOOK>

/** Problems that the schema does not know; none of them shows a secret or an address. */
export function problemsOf({ hooks }: WebhookOptions, { commits }: Pick<PluginEngine, 'commits'>): string[] {
  const problems = hooks.length > 0 && !commits.isLogged ? [NO_LOG] : []
  const names = new Set<string>()
  for (const hook of hooks) {
    const { name, url, secret, dataClass, events: kinds, filter, attributes, allowPrivate } = hook
    const tell = (text: string) => void problems.push(`hook ${name}: ${text}`)
    if (names.has(name)) tell('there are two of this name')
    names.add(name)
    const address = addressProblem(url, allowPrivate)
    if (address) tell(`url ${address}`)
    const secretProblem = webhookSecretProblem(secret)
    if (secretProblem) tell(`secret ${secretProblem}`)
    if (hook.maxRetrySeconds < hook.firstRetrySeconds) tell('maxRetrySeconds is less than firstRetrySeconds')
    try {
      commits.check({ dataClass, kinds, filter, attributes })
    } catch (error) {
      tell((error as Error).message)
    }
  }
  return problems
}

const NO_LOG =
  'webhooks are sent from the log of commits, and this store has none: set storage.log to on; a store whose storage.lock is lease cannot have one'
