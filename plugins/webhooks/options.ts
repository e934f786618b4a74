import { type PluginEngine, type Static, Type, webhookSecretProblem } from '../../kernel/api.ts'
import { addressProblem } from './addresses.ts'

const EVENTS = ['created', 'updated', 'deleted'] as const

const HOOK = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z][a-z0-9-]{0,39}$', description: 'Name in logs, metrics and `$webhooks`.' }),
    url: Type.String({ minLength: 1, maxLength: 2_000, description: 'Address that receives the events by POST.' }),
    secret: Type.String({ description: 'Secret that signs the events: `whsec_` and 24 to 64 bytes as base64.' }),
    dataClass: Type.String({ description: 'Dataclass whose entities are watched.' }),
    filter: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 10_000,
        description: 'Query, as in `$filter`: only entities that match it.',
      }),
    ),
    events: Type.Array(Type.Unsafe<(typeof EVENTS)[number]>({ type: 'string', enum: [...EVENTS] }), {
      default: [...EVENTS],
      minItems: 1,
      uniqueItems: true,
      description: 'Events to send: `created`, `updated`, `deleted`.',
    }),
    attributes: Type.Optional(
      Type.Array(Type.String({ pattern: '^[^,]+$', maxLength: 500 }), {
        minItems: 1,
        description: 'Attributes to send, as in `$attributes`.',
      }),
    ),
    allowPrivate: Type.Boolean({
      default: false,
      description: 'Allows addresses of this machine and of private networks.',
    }),
    concurrency: Type.Integer({
      default: 8,
      minimum: 1,
      maximum: 64,
      description: 'Maximum number of requests at the same time.',
    }),
    timeoutSeconds: Type.Number({
      default: 10,
      minimum: 0.05,
      maximum: 60,
      description: 'Maximum time for an attempt.',
    }),
    firstRetrySeconds: Type.Number({
      default: 5,
      minimum: 0.01,
      maximum: 3_600,
      description: 'Time between the first attempt and the second.',
    }),
    maxRetrySeconds: Type.Number({
      default: 3_600,
      minimum: 0.01,
      maximum: 86_400,
      description: 'Maximum time between two attempts.',
    }),
    maxAgeHours: Type.Number({
      default: 72,
      minimum: 0,
      maximum: 8_760,
      description: 'Time from the first attempt after which the webhook gives up on an event.',
    }),
    deadLetters: Type.Integer({
      default: 1_000,
      minimum: 0,
      maximum: 10_000,
      description: 'Number of given-up events to keep; beyond it the oldest are removed.',
    }),
  },
  { additionalProperties: false },
)

export const OPTIONS = Type.Object({
  hooks: Type.Array(HOOK, {
    default: [],
    maxItems: 100,
    description: 'Webhooks, each with the receiver of its events.',
  }),
  logBytes: Type.Integer({
    default: 2 ** 30,
    minimum: 2 ** 20,
    description: 'Size up to which the commit log keeps commits that a webhook has not read.',
  }),
})

export type WebhookOptions = Static<typeof OPTIONS>
export type HookOptions = Static<typeof HOOK>

/** Problems that the schema cannot find; none of them shows a secret or an address. */
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
