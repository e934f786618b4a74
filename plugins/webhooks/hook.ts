import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import type { PluginEngine } from '../../kernel/api.ts'
import type { Clock } from './clock.ts'
import { type DeadLetter, DeadLetters, type RecordChanges } from './dead-letters.ts'
import { DeliveryQueue } from './delivery-queue.ts'
import type { HookOptions } from './options.ts'
import { retryDelay } from './retry-delay.ts'
import type { Outcome, Sender } from './send.ts'

type Commits = PluginEngine['commits']
type Batch = Awaited<ReturnType<Commits['read']>>
type Change = Batch['changes'][number]
type Place = Batch['next']

interface HookContext {
  readonly options: HookOptions
  readonly commits: Commits
  readonly records: ReturnType<PluginEngine['pluginRecords']>
  readonly sender: Pick<Sender, 'send' | 'close'>
  readonly log: Logger
  readonly clock: Clock
  /** Called when the durable place has changed. */
  readonly onSaved: () => void
}

interface Delivery {
  readonly key: string
  readonly change: Change
  readonly bytes: number
  attempts: number
  /** Time of the first attempt. */
  since: number | undefined
}

/** Limits of the events that a hook holds in memory. */
const MAX_OPEN = 1_000
const MAX_OPEN_BYTES = 4 * 2 ** 20
const BATCH = { maxChanges: 250, maxBytes: 2 ** 20 }
/** Maximum length of an entity, in UTF-16 code units. */
const MAX_LENGTH = 2 ** 20
/** The place is saved this long after a delivery, or when the saved place is this many records behind. */
const SAVE_MS = 1_000
const SAVE_RECORDS = 256
/** Time to wait so that successive commits are read together. */
const GATHER_MS = 10
const READ_RETRY_MS = 1_000

/** One hook: reads the events that follow its place in the log, delivers them, and saves its place. */
export class Hook {
  readonly letters: DeadLetters
  readonly counts = { delivered: 0, failedAttempts: 0, givenUp: 0, skippedRecords: 0 }
  /** The last failure, until an event is delivered. */
  failure: { readonly at: number; readonly reason: string } | undefined
  private readonly queue: DeliveryQueue<Delivery>
  private readonly aborting = new AbortController()
  private openBytes = 0
  /** Durable place, and the place up to which events were read. */
  private savedPlace: Place
  private position: Place
  private lastRecord = 0
  private saving: Promise<void> | undefined
  private cancelSave: (() => void) | undefined
  private onRoom: (() => void) | undefined
  private readonly cancels = new Set<() => void>()

  private constructor(
    private readonly context: HookContext,
    place: Place,
  ) {
    const { options, records } = context
    this.savedPlace = place
    this.position = place
    this.lastRecord = place.sequence
    this.letters = new DeadLetters(records, options.name, options.deadLetters)
    // Each attempt adds a listener; Node.js warns of a leak above ten.
    setMaxListeners(0, this.aborting.signal)
    this.queue = new DeliveryQueue(options.concurrency, delivery => void this.deliver(delivery))
  }

  /** Opens a hook at its saved place; a new hook starts at the end of the log. */
  static async open(context: HookContext): Promise<Hook> {
    const { options, records, commits } = context
    const key = cursorKey(options.name)
    let place = records.get(key) as Place | undefined
    if (!place) {
      place = commits.end()
      await records.put([{ key, value: place }])
    }
    return new Hook(context, place)
  }

  /** Sequence of the last record that is not needed again. */
  get readTo(): number {
    return this.savedPlace.sequence
  }

  get pending(): number {
    return this.queue.size
  }

  /** Number of records between the place and the last commit, and the age of the oldest undelivered event, in seconds. */
  get lag(): { readonly records: number; readonly seconds: number } {
    const oldest = this.queue.oldest
    const records = Math.max(0, this.lastRecord - this.place.sequence)
    return { records, seconds: oldest ? Math.max(0, (this.context.clock.now() - oldest.change.time) / 1000) : 0 }
  }

  /** Place after all events that were delivered or given up. */
  private get place(): Place {
    return this.queue.oldest?.change.place ?? this.position
  }

  private get isClosed(): boolean {
    return this.aborting.signal.aborted
  }

  /** Reads and delivers until the hook is closed. Never rejects. */
  async run(): Promise<void> {
    let isFailing = false
    while (!this.isClosed) {
      const { commits, log, options } = this.context
      const commitCount = commits.commits
      try {
        const { dataClass, events: kinds, filter, attributes } = options
        const batch = await commits.read({
          selection: { dataClass, kinds, filter, attributes },
          after: this.position,
          ...BATCH,
        })
        if (this.isClosed) return
        isFailing = false
        this.take(batch)
        if (batch.next.sequence >= batch.last) {
          await commits.commitAfter(commitCount)
          await this.pause(GATHER_MS)
        }
      } catch (error) {
        if (!isFailing && !this.isClosed)
          log.error({ hook: options.name, reason: (error as Error).message }, 'events cannot be read')
        isFailing = true
        await this.pause(READ_RETRY_MS)
      }
      await this.room()
    }
  }

  /** Ends attempts, and saves the place. */
  async close(): Promise<void> {
    this.aborting.abort(new Error('the server is stopping'))
    const { place } = this
    for (const cancel of this.cancels) cancel()
    this.cancelSave?.()
    this.onRoom?.()
    await this.saving
    if (place.sequence !== this.savedPlace.sequence || place.index !== this.savedPlace.index) await this.save(place)
    this.context.sender.close()
  }

  /** Sends a dead letter once more. @returns the outcome; undefined if the letter does not exist or has no body */
  async resend(id: string): Promise<Outcome | undefined> {
    const letter = this.letters.get(id)
    if (!letter || letter.body === null) return undefined
    const outcome = await this.attempt(id, letter.body)
    if (outcome.kind === 'delivered') {
      this.counts.delivered++
      await this.letters.remove(id)
    } else {
      this.counts.failedAttempts++
      const { reason } = outcome
      // The letter may have been removed meanwhile.
      if (!this.letters.get(id)) return outcome
      await this.letters.put(
        { ...letter, reason, attempts: letter.attempts + 1, givenUp: this.context.clock.now() },
        '',
      )
    }
    return outcome
  }

  private take({ changes, next, last, gap, unknown }: Batch): void {
    const { log, options } = this.context
    if (gap) {
      this.counts.skippedRecords += gap.to - gap.from + 1
      log.error(
        { hook: options.name, from: gap.from, to: gap.to },
        'commits were removed from the log before the hook has read them: their events are not sent; logBytes of the plugin keeps more',
      )
    }
    if (unknown > 0)
      log.error(
        { hook: options.name, count: unknown },
        'deletions are not sent: they are of a time without hooks, or of another model',
      )
    this.position = next
    this.lastRecord = Math.max(last, next.sequence)
    for (const rawChange of changes) {
      const isTooLarge = (rawChange.entity?.length ?? 0) > MAX_LENGTH
      const change = isTooLarge ? { ...rawChange, entity: undefined, problem: TOO_LARGE } : rawChange
      const bytes = (change.entity?.length ?? 0) + change.key.length
      this.openBytes += bytes
      this.queue.add({ key: change.key, change, bytes, attempts: 0, since: undefined })
    }
    if (this.position.sequence - this.savedPlace.sequence >= SAVE_RECORDS) this.saveSoon()
  }

  private async deliver(delivery: Delivery): Promise<void> {
    const { change } = delivery
    if (this.isClosed) return
    const { clock, options } = this.context
    const id = this.idOf(change)
    const body = bodyOf(change, options.dataClass)
    if (change.problem !== undefined) return this.giveUp(delivery, { reason: change.problem, body: null })
    delivery.since ??= clock.now()
    delivery.attempts++
    const outcome = await this.attempt(id, body)
    if (this.isClosed) return
    if (outcome.kind === 'delivered') {
      this.counts.delivered++
      if (this.failure) this.context.log.info({ hook: options.name }, 'the receiver takes events again')
      this.failure = undefined
      return this.finish(delivery)
    }
    this.counts.failedAttempts++
    this.note(outcome.reason)
    const { reason } = outcome
    const delay =
      outcome.kind === 'gone'
        ? 0
        : Math.max(outcome.retryAfterMs, retryDelay(options, delivery.attempts, clock.random()))
    const isTooOld = clock.now() + delay - delivery.since > options.maxAgeHours * 3_600_000
    if (outcome.kind === 'gone' || isTooOld) return this.giveUp(delivery, { reason, body })
    this.queue.postpone()
    this.later(delay, () => this.queue.resume(delivery))
  }

  private async attempt(id: string, body: string): Promise<Outcome> {
    const { clock, options, sender } = this.context
    const limit = new AbortController()
    const end = () => limit.abort(this.aborting.signal.reason)
    const seconds = options.timeoutSeconds
    const cancel = clock.after(1000 * seconds, () => limit.abort(new Error(`no answer within ${seconds} s`)))
    this.aborting.signal.addEventListener('abort', end)
    try {
      return await sender.send(id, body, limit.signal)
    } finally {
      cancel()
      this.aborting.signal.removeEventListener('abort', end)
    }
  }

  /** Keeps an event as a dead letter, in the same commit as the place after it. */
  private async giveUp(delivery: Delivery, { reason, body }: Pick<DeadLetter, 'reason' | 'body'>): Promise<void> {
    const { clock, log, options } = this.context
    const { change, attempts } = delivery
    const { key, time, place } = change
    const type = `${options.dataClass}.${change.kind}`
    const id = this.idOf(change)
    const order = `${String(place.sequence).padStart(16, '0')}-${String(place.index).padStart(10, '0')}`
    try {
      await this.letters.put({ id, type, key, time, givenUp: clock.now(), attempts, reason, body }, order)
    } catch {
      // The writer is busy, or the server is stopping.
      if (!this.isClosed) this.later(READ_RETRY_MS, () => void this.giveUp(delivery, { reason, body }))
      return
    }
    this.counts.givenUp++
    log.error({ hook: options.name, id, type, key, attempts, reason }, 'an event was given up')
    this.finish(delivery)
  }

  private finish(delivery: Delivery): void {
    this.openBytes -= delivery.bytes
    this.queue.finish(delivery)
    this.saveSoon()
    if (this.hasRoom) this.onRoom?.()
  }

  /** Logs the first failure after a success. */
  private note(reason: string): void {
    const { clock, log, options } = this.context
    if (!this.failure)
      log.warn({ hook: options.name, reason }, 'the receiver does not take events; they are sent again')
    this.failure = { at: clock.now(), reason }
  }

  private get hasRoom(): boolean {
    return this.queue.size < MAX_OPEN && this.openBytes < MAX_OPEN_BYTES
  }

  private async room(): Promise<void> {
    if (this.hasRoom || this.isClosed) return
    await new Promise<void>(resolve => {
      this.onRoom = resolve
    })
    this.onRoom = undefined
  }

  private saveSoon(): void {
    this.cancelSave ??= this.context.clock.after(SAVE_MS, () => {
      this.cancelSave = undefined
      this.saving = (this.saving ?? Promise.resolve()).then(() => this.save(this.place))
    })
  }

  private async save(place: Place): Promise<void> {
    const { records, onSaved, log, options } = this.context
    const changes: RecordChanges = [{ key: cursorKey(options.name), value: place }]
    try {
      await records.put(changes)
      this.savedPlace = place
      onSaved()
    } catch (error) {
      log.warn({ hook: options.name, reason: (error as Error).message }, 'the place of the hook was not written')
      if (!this.isClosed) this.saveSoon()
    }
  }

  private later(ms: number, run: () => void): void {
    const cancel = this.context.clock.after(ms, () => {
      this.cancels.delete(cancel)
      if (!this.isClosed) run()
    })
    this.cancels.add(cancel)
  }

  private pause(ms: number): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.context.clock.after(ms, () => {
        this.cancels.delete(end)
        resolve()
      })
      const end = () => {
        cancel()
        resolve()
      }
      this.cancels.add(end)
    })
  }

  /** Id of an event, the same for every attempt, even after a restart. */
  private idOf({ id }: Change): string {
    return `msg_${createHash('sha256').update(`${this.context.options.name}/${id}`).digest().subarray(0, 18).toString('base64url')}`
  }
}

const TOO_LARGE = `the entity has more than ${MAX_LENGTH} characters; attributes of the hook says what is sent`

export const cursorKey = (hook: string): string => `cursor/${hook}`

const bodyOf = ({ kind, time, entity = 'null' }: Change, dataClass: string): string =>
  `{"type":"${dataClass}.${kind}","timestamp":"${new Date(time).toISOString()}","data":${entity}}`
