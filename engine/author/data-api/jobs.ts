import { inspect } from 'node:util'
import { MAX_JOB_ARGUMENTS, MAX_PRIORITY, type NewJob, newJobId, savedKey } from '../../jobs/job.ts'
import { parseJsonBody } from '../../base/json-body.ts'
import { JSON_BOUNDS } from '../../base/json-bounds.ts'
import { parseDate } from '../../base/time/read-date.ts'
import type { EnqueueOptions } from '../declare/author-types.ts'
import { type AuthorClass, jobName, subjectOf } from '../declare/describe-classes.ts'
import { membersOf } from '../declare/members.ts'
import type { EntityBase } from './entity.ts'
import { internals } from './entity-internals.ts'
import { BINDING, isEntity, isSelection } from './binding.ts'
import type { CodeSession } from './code-session.ts'
import { LanguageErrors } from './language-errors.ts'

/** A job, as seen by the code that it runs. */
export interface JobInfo {
  readonly id: string
  readonly attempt: number
  readonly key?: string | undefined
  /** Places of the arguments that are entities. */
  readonly entities?: readonly number[] | undefined
}

const MAX_ARGUMENTS = 100
/** Length from which arguments, as JSON, can be nested too deeply or be too many. */
const MIN_ODD = 200
/** Maximum length of the progress of a job, as JSON. */
const MAX_PROGRESS = 1024

/** Names of all jobs by their functions, both as members of plugin classes and as members of the objects of the data API. */
export function jobNames(codeSession: CodeSession, classes: readonly AuthorClass[]): ReadonlyMap<unknown, string> {
  const names = new Map<unknown, string>()
  for (const each of classes) {
    const { kind, dataClass } = subjectOf(each)
    const object = kind === 'dataClass' ? codeSession.binding(dataClass!).instance : codeSession.dataStore
    for (const member of membersOf(each)) {
      if (member.kind !== 'job') continue
      const name = jobName({ kind, name: each.name, ...(dataClass !== undefined && { dataClass }) }, member.name)
      names.set(Reflect.get(each.prototype as object, member.name), name)
      if (kind !== 'singleton') names.set(Reflect.get(object, member.name), name)
    }
  }
  return names
}

/**
 * A job that is to be enqueued.
 * @param name of the job; undefined for a function that is not a job
 * @param saving the entity whose events run, which may have no key yet
 */
export function newJob(
  name: string | undefined,
  args: readonly unknown[],
  options: EnqueueOptions,
  saving: object | undefined,
): NewJob {
  if (name === undefined) throw LanguageErrors.NO_JOB()
  const { key, priority = 0 } = options
  if (!Array.isArray(args)) throw LanguageErrors.BAD_JOB(name, 'the second argument is an array with its arguments')
  if (!Number.isInteger(priority) || Math.abs(priority) > MAX_PRIORITY)
    throw LanguageErrors.BAD_JOB(
      name,
      `priority is an integer from -${MAX_PRIORITY} to ${MAX_PRIORITY}; received ${excerptOf(priority)}`,
    )
  if (key !== undefined && (!(typeof key === 'string' || typeof key === 'number') || key === ''))
    throw LanguageErrors.BAD_JOB(name, `key is a text or a number; received ${excerptOf(key)}`)
  const id = newJobId(Date.now())
  const entities = args.flatMap((each, i) => (isEntity(each) ? i : []))
  return {
    ...{ id, name, args: argumentsOf(name, args, entity => referenceTo(entity, saving, id)), priority },
    ...(entities.length > 0 && { entities }),
    ...(key !== undefined && { key: String(key) }),
    ...(options.at !== undefined && { at: timeOf(name, options.at) }),
  }
}

/** An entity as an argument of a call: the job gets it as it is when it runs. */
function referenceTo(entity: EntityBase, saving: object | undefined, id: string): object {
  const { name } = entity[BINDING].dataClass
  const ofNew = entity === saving ? savedKey(id) : undefined
  const key = entity.isNew() ? ofNew : internals.row(entity)?.key
  if (key === undefined) throw new TypeError(`an entity of ${name} that has not been saved`)
  return { __ENTITY: true, __DATACLASS: name, __KEY: key }
}

function argumentsOf(name: string, args: readonly unknown[], reference: (entity: EntityBase) => object): string {
  let text: string
  try {
    const values = args.map(each => (isEntity(each) ? reference(each as EntityBase) : each))
    text = JSON.stringify(values, function (this: Record<string, unknown>, key, value: unknown) {
      // The original value, before its `toJSON` was called.
      const original = this[key]
      if (isEntity(original)) throw new TypeError('an entity inside of another value')
      if (isSelection(original)) throw new TypeError(`a selection of ${original[BINDING].dataClass.name}`)
      if (['function', 'symbol', 'bigint'].includes(typeof original)) throw new TypeError(excerptOf(original))
      return value
    })
  } catch (error) {
    const reason = String((error as Error).message).split('\n')[0]!
    throw LanguageErrors.BAD_JOB(name, `its arguments are entities and values as in JSON; received ${reason}`)
  }
  if (text.length <= MAX_JOB_ARGUMENTS) return readable(name, text)
  const limit = `its arguments may have ${MAX_JOB_ARGUMENTS} characters as JSON; received ${text.length}`
  throw LanguageErrors.BAD_JOB(name, `${limit}. Save the data, and pass a key`)
}

/** Returns the text if a call can read it. Few texts are long or odd enough to be parsed for this check. */
function readable(name: string, text: string): string {
  if (text.includes('"__proto__":')) throw LanguageErrors.BAD_JOB(name, 'an object has the key "__proto__"')
  if (text.length < MIN_ODD) return text
  try {
    const values = parseJsonBody(Buffer.from(text), JSON_BOUNDS) as unknown[]
    if (values.length <= MAX_ARGUMENTS) return text
  } catch (error) {
    throw LanguageErrors.BAD_JOB(name, (error as Error).message)
  }
  throw LanguageErrors.BAD_JOB(name, `it may have ${MAX_ARGUMENTS} arguments`)
}

function timeOf(name: string, at: unknown): number {
  const time =
    typeof at === 'string' ? parseDate(at) : at instanceof Date || typeof at === 'number' ? +new Date(at) : NaN
  if (time !== undefined && time >= 0) return time
  throw LanguageErrors.BAD_JOB(
    name,
    `at is a Date, milliseconds or a text such as "2026-01-31T15:23:00Z"; received ${excerptOf(at)}`,
  )
}

/** Progress of a job as JSON. */
export function jobProgress(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  if (text.length > MAX_PROGRESS) throw LanguageErrors.BAD_PROGRESS(MAX_PROGRESS, text.length)
  return text
}

const excerptOf = (value: unknown): string => inspect(value, { depth: 0, breakLength: Infinity }).slice(0, 100)
