import type { EventKind } from '../language/decorators.ts'
import type { Member } from '../language/members.ts'

/**
 * What code of an event returns to stop what is being done.
 * Source: protocol notes, 9.
 */
export interface EventError {
  readonly errCode: number
  readonly message: string
  readonly extraDescription?: unknown
  /** Of a validate event: reported as an error and not only as a status. All other events are serious. */
  readonly seriousError?: boolean
}

/** What code of an event is given. */
export interface EventDetails {
  readonly kind: EventKind
  readonly dataClassName: string
  /** At attribute level. */
  readonly attributeName?: string
  readonly [detail: string]: unknown
}

/** The methods of a class that are code of events, in the order in which they are declared. */
export class EventCode {
  private readonly methods = new Map<string, string[]>()

  constructor(
    private readonly dataClass: string,
    members: readonly Member[],
  ) {
    for (const member of members) {
      if (member.kind !== 'event') continue
      const key = keyOf(member.event, member.attribute)
      this.methods.set(key, [...(this.methods.get(key) ?? []), member.name])
    }
  }

  /** Whether there is code of this event, at either level. */
  has(kind: EventKind): boolean {
    return [...this.methods.keys()].some(key => key.startsWith(`${kind} `))
  }

  /** Its methods, of the whole entity. */
  names(kind: EventKind): readonly string[] {
    return this.methods.get(keyOf(kind)) ?? []
  }

  /**
   * Runs the code of the given attributes, then that of the entity, up to the first that returns an error.
   * @throws what the code throws, unless that is an error object itself
   */
  run(kind: EventKind, entity: object, attributes: readonly string[], details: object = {}): EventError | undefined {
    for (const attributeName of attributes) {
      const error = this.runLevel(kind, entity, attributeName, details)
      if (error) return error
    }
    return this.runLevel(kind, entity, undefined, details)
  }

  private runLevel(
    kind: EventKind,
    entity: object,
    attributeName: string | undefined,
    details: object,
  ): EventError | undefined {
    for (const name of this.methods.get(keyOf(kind, attributeName)) ?? []) {
      const event: EventDetails = {
        ...details,
        kind,
        dataClassName: this.dataClass,
        ...(attributeName !== undefined && { attributeName }),
      }
      const error = errorOf(() => (entity as Record<string, (event: EventDetails) => unknown>)[name]!(event))
      if (error) return error
    }
    return undefined
  }
}

const keyOf = (kind: EventKind, attribute = ''): string => `${kind} ${attribute}`

/** An error object counts the same whether it is returned or thrown. */
function errorOf(work: () => unknown): EventError | undefined {
  try {
    const returned = work()
    return isEventError(returned) ? returned : undefined
  } catch (thrown) {
    if (!(thrown instanceof Error) && isEventError(thrown)) return { ...thrown, seriousError: true }
    throw thrown
  }
}

const isEventError = (value: unknown): value is EventError =>
  typeof value === 'object' && value !== null && 'errCode' in value && typeof value.errCode === 'number'
