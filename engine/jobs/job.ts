import { createHash, randomBytes } from 'node:crypto'
import type { RecordChange } from '../data/record-store.ts'

/** A job as it is enqueued: plain data. It has all rights, because only plugin code enqueues jobs, and their users may be gone when they run. */
export interface NewJob {
  /** 32 hex digits, see {@link newJobId}. */
  readonly id: string
  /** Class and name of the function: `Ticket.embed`; `ds.tidy` for one of the datastore. */
  readonly name: string
  /** Its arguments, a JSON array. */
  readonly args: string
  /** Places of the arguments that are entities; all others are values. */
  readonly entities?: readonly number[]
  /** There is at most one job of a function with this key. */
  readonly key?: string
  /** From -{@link MAX_PRIORITY} to {@link MAX_PRIORITY}; higher ones run first. */
  readonly priority: number
  /** Time before which it does not run, in milliseconds since 1970. Undefined: now. */
  readonly at?: number
}

/**
 * `waiting` for its time, `ready` to run, `running`; or ended: `done`, `failed` (each attempt has failed: a dead letter), `cancelled`.
 */
export const JOB_STATES = ['waiting', 'ready', 'running', 'done', 'failed', 'cancelled'] as const
export type JobState = (typeof JOB_STATES)[number]

/** A job as it is stored. Times are milliseconds since 1970. */
export interface Job extends Omit<NewJob, 'at'> {
  readonly state: JobState
  readonly enqueued: number
  /** Time of its state: when it is due, has begun or has ended. */
  readonly time: number
  /** Number of times that the job was started. */
  readonly attempts: number
  /** Number of times that the server has ended while it ran. */
  readonly interruptions?: number
  /** Message of the error of its last attempt. */
  readonly error?: string
}

export const MAX_PRIORITY = 99
/** Maximum time between two checks of the queue: a job that is due later need not be announced. */
export const LOOK_MS = 60_000
/** Maximum length of the arguments of a job, as JSON. */
export const MAX_JOB_ARGUMENTS = 64 * 1024
const KEY_LENGTH = 15

/** Random part of the ids, different in each thread. */
const ownPart = randomBytes(7).toString('hex')
let lastMs = 0
let count = 0

/** Creates an id; the ids of one thread sort in the order of their creation. @param now milliseconds since 1970 */
export function newJobId(now: number): string {
  // A clock may be set back.
  if (now > lastMs) {
    lastMs = now
    count = 0
  } else count++
  return hex(lastMs, 12) + hex(count, 6) + ownPart
}

const hex = (number: number, digits: number): string => number.toString(16).padStart(digits, '0').slice(-digits)
export const isJobId = (text: string): boolean => /^[0-9a-f]{32}$/.test(text)

/** Key of the record of a job. */
export const jobKey = (id: string): string => `job/${id}`

/** Beginning of the keys of all jobs in a state; for `ready`, of the jobs of one function. */
export const statePrefix = (state: JobState, name?: string): string =>
  name === undefined ? `jobs/${state}/` : `jobs/${state}/${name}/`

/** Key that sorts the jobs in a state: by time or, for ready jobs, in the order in which they are to run. */
function placeKey({ id, name, state, time, priority }: Job): string {
  const order = state === 'ready' ? hex(MAX_PRIORITY - priority, 2) : String(time).padStart(KEY_LENGTH, '0')
  return `${statePrefix(state, state === 'ready' ? name : undefined)}${order}/${id}`
}

export const idOfPlace = (key: string): string => key.slice(key.lastIndexOf('/') + 1)
/** Part of the key of a ready job that sorts the jobs of all functions in the order in which they are to run. */
export const orderOfPlace = (key: string): string => key.split('/').slice(3).join('/')
/** Time in the key of a job that is not `ready`. */
export const timeOfPlace = (key: string): number => Number(key.split('/')[2])

/** Key of the record that has the id of the job with a key. */
export const ownKey = (name: string, key: string): string =>
  // As UTF-8, keys with lone surrogates could be alike.
  `jobs/key/${name}/${createHash('sha256').update(key, 'utf16le').digest('base64url')}`

/** Changes that store a job in its new state. @param before its stored state; undefined for a new one */
export function storeJob(job: Job, before?: Job): RecordChange[] {
  const { key, name, id } = job
  return [
    ...(before ? [{ key: placeKey(before), value: undefined }] : []),
    { key: placeKey(job), value: true },
    { key: jobKey(id), value: job },
    ...(before || key === undefined ? [] : [{ key: ownKey(name, key), value: id }]),
  ]
}

export function removeJob(job: Job): RecordChange[] {
  const { id, name, key } = job
  const keys = [placeKey(job), jobKey(id), ...(key === undefined ? [] : [ownKey(name, key)])]
  return keys.map(each => ({ key: each, value: undefined }))
}

/** Placeholder in the arguments of a job for the key of the entity whose save enqueues it: a new entity may have no key before. */
export const savedKey = (id: string): string => `saved by ${id}`

/** A new job with its state. */
export function jobOf({ at, ...job }: NewJob, now: number): Job {
  const isLater = at !== undefined && at > now
  return { ...job, state: isLater ? 'waiting' : 'ready', enqueued: now, time: isLater ? at : now, attempts: 0 }
}
