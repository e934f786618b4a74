import { inspect } from 'node:util'
import { MAX_JOB_ARGUMENTS, MAX_PRIORITY, type NewJob, newJobId } from '../../jobs/job.ts'
import type { EnqueueOptions } from '../declare/author-types.ts'
import { type AuthorClass, subjectOf } from '../declare/describe-classes.ts'
import { jobName } from '../declare/job-options.ts'
import { membersOf } from '../declare/members.ts'
import { isEntity, isSelection } from './binding.ts'
import type { Language } from './language.ts'
import { LanguageErrors } from './language-errors.ts'

/** A job as the code sees it that runs for it. */
export interface JobInfo {
  readonly id: string
  readonly attempt: number
  readonly key?: string | undefined
}

/** Maximum length of the progress of a job, as JSON. */
const MAX_PROGRESS = 1024

/** Names of all jobs by their functions: as the classes of plugins have them, and as the objects of the data API do. */
export function jobNames(language: Language, classes: readonly AuthorClass[]): ReadonlyMap<unknown, string> {
  const names = new Map<unknown, string>()
  for (const each of classes) {
    const { kind, dataClass } = subjectOf(each)
    const object = kind === 'dataClass' ? language.binding(dataClass!).instance : language.dataStore
    for (const member of membersOf(each)) {
      if (member.kind !== 'job') continue
      const name = jobName({ kind, name: each.name, ...(dataClass !== undefined && { dataClass }) }, member.name)
      names.set(Reflect.get(each.prototype as object, member.name), name)
      if (kind !== 'singleton') names.set(Reflect.get(object, member.name), name)
    }
  }
  return names
}

/** @param name of the job; undefined for a function that is none */
export function newJob(name: string | undefined, args: readonly unknown[], options: EnqueueOptions): NewJob {
  if (name === undefined) throw LanguageErrors.NO_JOB()
  const { key, priority = 0 } = options
  if (!Array.isArray(args)) throw LanguageErrors.BAD_JOB(name, 'the second argument is an array with its arguments')
  if (!Number.isInteger(priority) || Math.abs(priority) > MAX_PRIORITY)
    throw LanguageErrors.BAD_JOB(
      name,
      `priority is an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}; received ${shown(priority)}`,
    )
  if (key !== undefined && (!(typeof key === 'string' || typeof key === 'number') || key === ''))
    throw LanguageErrors.BAD_JOB(name, `key is a text or a number; received ${shown(key)}`)
  const text = argumentsOf(name, args)
  const now = Date.now()
  return {
    ...{ id: newJobId(now), name, args: text, priority },
    ...(key !== undefined && { key: String(key) }),
    ...(options.at !== undefined && { at: timeOf(name, options.at) }),
  }
}

function argumentsOf(name: string, args: readonly unknown[]): string {
  let text: string
  try {
    text = JSON.stringify(args, function (this: Record<string, unknown>, key, value: unknown) {
      // As it is, before its own `toJSON` was called.
      const given = this[key]
      if (['function', 'symbol', 'bigint'].includes(typeof given) || isEntity(given) || isSelection(given))
        throw new TypeError(shown(given))
      return value
    })
  } catch (error) {
    const received = String((error as Error).message).split('\n')[0]!
    throw LanguageErrors.BAD_JOB(
      name,
      `its arguments are values as in JSON, for an entity its key; received ${received}`,
    )
  }
  if (text.length <= MAX_JOB_ARGUMENTS) return text
  const limit = `its arguments may have ${MAX_JOB_ARGUMENTS} characters as JSON; received ${text.length}`
  throw LanguageErrors.BAD_JOB(name, `${limit}. Save the data, and pass a key`)
}

function timeOf(name: string, at: unknown): number {
  const time =
    at instanceof Date || typeof at === 'string' || typeof at === 'number' ? new Date(at).getTime() : Number.NaN
  if (!(time >= 0))
    throw LanguageErrors.BAD_JOB(name, `at is a date, an ISO text or milliseconds; received ${shown(at)}`)
  return time
}

/** Progress of a job as JSON. */
export function jobProgress(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length > MAX_PROGRESS) throw LanguageErrors.BAD_PROGRESS(MAX_PROGRESS, text.length)
  return text
}

const shown = (value: unknown): string => inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 100)
