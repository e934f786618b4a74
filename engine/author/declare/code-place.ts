import type { Member } from './members.ts'

/** Names of a piece of plugin code, for log lines. */
export interface CodePlace {
  readonly plugin?: string | undefined
  readonly class?: string
  /** A function, or the method that answers for an attribute. */
  readonly function?: string
  readonly event?: string
  /** A calculated attribute, or the attribute of an event. */
  readonly attribute?: string
}

/** @param owner name of the class that has the member, as its author wrote it */
export function placeOf(member: Member, owner: string): CodePlace {
  const { plugin, name, className = owner } = member
  const code = { plugin, class: className }
  switch (member.kind) {
    case 'function':
    case 'job':
    case 'schedule':
      return { ...code, function: name }
    case 'calculated':
      return { ...code, attribute: name }
    case 'event': {
      const { event, attribute } = member
      return { ...code, function: name, event, ...(attribute !== undefined && { attribute }) }
    }
    case 'queryOf':
    case 'orderByOf':
      return { ...code, function: name, attribute: member.attribute }
  }
}
