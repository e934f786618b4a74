import {
  counter,
  encoded,
  gauge,
  json,
  type Metric,
  type Reply,
  type RestRequest,
  type Scope,
} from '../../kernel/api.ts'
import { systemClock } from './clock.ts'
import type { DeadLetter } from './dead-letters.ts'
import { WebhooksErrors } from './errors.ts'
import { cursorKey, Hook } from './hook.ts'
import type { HookOptions, WebhookOptions } from './options.ts'
import { Sender } from './send.ts'

type Context = Pick<Scope, 'engine' | 'log' | 'now' | 'plugin'>

/** Number of records of places that are removed in one step. */
const MAX_PLACES = 1_000

/** All hooks of a server, and the operations of administrators on them. */
export class Hooks {
  /** Dead letters that are being sent. */
  private readonly sending = new Set<string>()

  private constructor(
    private readonly hooks: ReadonlyMap<string, { readonly options: HookOptions; readonly hook: Hook }>,
  ) {}

  /** Opens the hooks; new hooks start at the end of the log. Nothing is sent until {@link run}. */
  static async open({ engine, log, now, plugin }: Context, { hooks: configuredHooks }: WebhookOptions): Promise<Hooks> {
    const records = engine.pluginRecords(plugin)
    const { commits } = engine
    const clock = systemClock(now)
    const hooks = new Map<string, { options: HookOptions; hook: Hook }>()
    const onSaved = () => commits.readTo(plugin, Math.min(...[...hooks.values()].map(({ hook }) => hook.readTo)))
    for (const options of configuredHooks) {
      const sender = new Sender(options, now)
      hooks.set(options.name, {
        options,
        hook: await Hook.open({ options, commits, records, sender, log, clock, onSaved }),
      })
    }
    // A hook that is removed and added again starts as a new one.
    const staleCursors = records
      .list(cursorKey(''), MAX_PLACES)
      .filter(({ key }) => !hooks.has(key.slice(cursorKey('').length)))
    await records.put(staleCursors.map(({ key }) => ({ key, value: undefined })))
    onSaved()
    return new Hooks(hooks)
  }

  run(): void {
    for (const { hook } of this.hooks.values()) void hook.run()
  }

  async close(): Promise<void> {
    await Promise.all([...this.hooks.values()].map(({ hook }) => hook.close()))
  }

  async answer(request: RestRequest): Promise<Reply> {
    const { parts } = request
    const { method } = request.transport
    const [name, id, ...others] = parts
    if (others.length > 0) throw WebhooksErrors.UNKNOWN_PART(parts.join('/').slice(0, 100))
    if (name === undefined) {
      if (method !== 'GET' && method !== 'HEAD') throw WebhooksErrors.WRONG_VERB(method)
      return json({ hooks: [...this.hooks.values()].map(describe) })
    }
    const entry = this.hooks.get(name)
    if (!entry) throw WebhooksErrors.UNKNOWN_HOOK(name.slice(0, 100), [...this.hooks.keys()].join(', '))
    if (id === undefined) {
      if (method !== 'GET' && method !== 'HEAD') throw WebhooksErrors.WRONG_VERB(method)
      return json({ ...describe(entry), letters: entry.hook.letters.list().map(describeLetter) })
    }
    const letter = entry.hook.letters.get(id)
    if (!letter) throw WebhooksErrors.UNKNOWN_LETTER(id.slice(0, 100), name)
    if (method === 'POST') return this.resend(entry.hook, letter)
    if (method === 'DELETE') {
      if (this.sending.has(letter.id)) throw WebhooksErrors.IN_PROGRESS(letter.id)
      await entry.hook.letters.remove(id)
      return json({ result: true })
    }
    // The event is inserted as it was sent: parsing could change its numbers.
    return encoded(Buffer.from(`${JSON.stringify(describeLetter(letter)).slice(0, -1)},"event":${letter.body}}`))
  }

  metrics(): Metric[] {
    const values = (value: (hook: Hook) => number) =>
      [...this.hooks].map(([name, { hook }]) => ({ labels: { hook: name }, value: value(hook) }))
    return [
      counter(
        'webhooks_delivered_total',
        'Events that receivers accepted.',
        values(hook => hook.counts.delivered),
      ),
      counter(
        'webhooks_failed_attempts_total',
        'Failed attempts to deliver an event.',
        values(hook => hook.counts.failedAttempts),
      ),
      counter(
        'webhooks_given_up_total',
        'Events that webhooks gave up on.',
        values(hook => hook.counts.givenUp),
      ),
      counter(
        'webhooks_skipped_records_total',
        'Commits that the webhook missed because the commit log no longer had them.',
        values(hook => hook.counts.skippedRecords),
      ),
      gauge(
        'webhooks_pending',
        'Undelivered events in memory.',
        values(hook => hook.pending),
      ),
      gauge(
        'webhooks_lag_records',
        'Number of commits that the webhook lags behind the last one.',
        values(hook => hook.lag.records),
      ),
      gauge(
        'webhooks_lag_seconds',
        'Age of the oldest undelivered event.',
        values(hook => hook.lag.seconds),
      ),
      gauge(
        'webhooks_dead_letters',
        'Given-up events that are kept.',
        values(hook => hook.letters.size),
      ),
    ]
  }

  private async resend(hook: Hook, { id, body }: DeadLetter): Promise<Reply> {
    if (body === null) throw WebhooksErrors.NO_BODY(id)
    if (this.sending.has(id)) throw WebhooksErrors.IN_PROGRESS(id)
    this.sending.add(id)
    try {
      const outcome = await hook.resend(id)
      return json({
        result: outcome?.kind === 'delivered',
        ...(outcome && 'reason' in outcome && { reason: outcome.reason }),
      })
    } finally {
      this.sending.delete(id)
    }
  }
}

function describe({ options, hook }: { options: HookOptions; hook: Hook }): object {
  const { name, url, dataClass, events, filter = null } = options
  const { counts, lag, pending, failure = null, letters } = hook
  return {
    name,
    // The rest of an address may be a secret.
    receiver: new URL(url).origin,
    dataClass,
    events,
    filter,
    ...counts,
    pending,
    lagRecords: lag.records,
    lagSeconds: lag.seconds,
    failure: failure && { at: iso(failure.at), reason: failure.reason },
    deadLetters: letters.size,
  }
}

const describeLetter = ({ id, type, key, time, givenUp, attempts, reason }: Omit<DeadLetter, 'body'>): object => ({
  id,
  type,
  key,
  time: iso(time),
  givenUp: iso(givenUp),
  attempts,
  reason,
})

const iso = (time: number): string => new Date(time).toISOString()
