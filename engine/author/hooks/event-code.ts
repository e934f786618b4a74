import { inspect } from 'node:util'
import type { EventKind } from '../declare/event-types.ts'
import type { EventError } from '../declare/event-types.ts'
import type { ClassDescriptor } from '../declare/describe-classes.ts'
import { codeContext } from '../declare/running-call.ts'
import { type CodePlace, placeOf } from '../declare/code-place.ts'
import { startAs } from '../declare/running-code.ts'
import { isThenable } from '../../base/promised.ts'

/** Details of an event for its code. */
export interface EventDetails {
  readonly kind: EventKind
  readonly dataClassName: string
  /** Set only at attribute level. */
  readonly attributeName?: string
  readonly [detail: string]: unknown
}

/** An error object, with the attribute whose code returned it. */
interface EventRefusal {
  readonly error: EventError
  /** Undefined for code of the whole entity. */
  readonly attribute: string | undefined
}

/** A method that is the code of an event. */
export interface EventMethod {
  readonly name: string
  readonly place: CodePlace
}

/** The methods of a class that are the code of events, in the order of declaration. */
export class EventCode {
  private readonly methods = new Map<string, EventMethod[]>()

  constructor(
    private readonly dataClass: string,
    { name: className, members }: Pick<ClassDescriptor, 'name' | 'members'>,
  ) {
    for (const member of members) {
      if (member.kind !== 'event') continue
      const key = keyOf(member.event, member.attribute)
      const method = { name: member.name, place: placeOf(member, className) }
      this.methods.set(key, [...(this.methods.get(key) ?? []), method])
    }
  }

  /** True if there is code for this event, at either level. */
  has(kind: EventKind): boolean {
    return [...this.methods.keys()].some(key => key.startsWith(`${kind} `))
  }

  /** Methods of an event of the whole entity. */
  ofWhole(kind: EventKind): readonly EventMethod[] {
    return this.methods.get(keyOf(kind)) ?? []
  }

  /**
   * Runs the code of the given attributes, then the code of the entity, up to the first that returns an error.
   * @throws what the code throws, unless it is an error object
   */
  run(kind: EventKind, entity: object, attributes: readonly string[], details: object = {}): EventRefusal | undefined {
    for (const attributeName of attributes) {
      const error = this.runLevel(kind, entity, attributeName, details)
      if (error) return { error, attribute: attributeName }
    }
    const error = this.runLevel(kind, entity, undefined, details)
    return error && { error, attribute: undefined }
  }

  private runLevel(
    kind: EventKind,
    entity: object,
    attributeName: string | undefined,
    details: object,
  ): EventError | undefined {
    for (const { name, place } of this.methods.get(keyOf(kind, attributeName)) ?? []) {
      const event: EventDetails = {
        ...details,
        kind,
        dataClassName: this.dataClass,
        ...(attributeName !== undefined && { attributeName }),
      }
      const error = startAs(place, () =>
        errorOf(kind, () => (entity as Record<string, (event: EventDetails) => unknown>)[name]!(event)),
      )
      if (error) return error
    }
    return undefined
  }
}

const keyOf = (kind: EventKind, attribute = ''): string => `${kind} ${attribute}`

/** Events that an error object can stop. */
const STOPPABLE: ReadonlySet<EventKind> = new Set([
  ...(['validateSave', 'saving', 'validateDrop', 'dropping'] as const),
])

/** Events that may wait: the answer of their call waits for them. */
const AFTERWARDS: ReadonlySet<EventKind> = new Set(['afterSave', 'afterDrop'])

/**
 * Returns the error object that the code returns or throws.
 * @throws {TypeError} something else was returned: code that tries to stop a save in the wrong way must not let the save succeed
 */
function errorOf(kind: EventKind, work: () => unknown): EventError | undefined {
  try {
    const result = work()
    if (result === undefined || result === null) return undefined
    if (isThenable(result)) {
      const { call, place } = codeContext() ?? {}
      if (AFTERWARDS.has(kind) && call) {
        call.waitFor(result, place)
        return undefined
      }
      // Nothing else handles the rejection.
      result.then(undefined, () => {})
      throw new TypeError(`the code of the event ${kind} returned a promise; only afterSave and afterDrop may wait`)
    }
    if (!STOPPABLE.has(kind)) return undefined
    if (isEventError(result)) return result
    throw new TypeError(
      `the code of the event ${kind} returned ${inspect(result, { breakLength: Infinity }).slice(0, 100)}; ` +
        'an error object { errCode: 1, message: "…" } stops it, undefined or null lets it go on',
    )
  } catch (exception) {
    // The message of an `Error` is not enumerable.
    if (isEventError(exception)) return { ...exception, message: exception.message, seriousError: true }
    throw exception
  }
}

const isEventError = (value: unknown): value is EventError =>
  typeof value === 'object' && value !== null && 'errCode' in value && typeof value.errCode === 'number'
