import type { EventError } from '../../../../../engine/author/declare/event-types.ts'
import { calculated, Entity, event, orderByOf, queryOf } from '../../../../../engine/author/data-api/classes.ts'

// biome-ignore lint/suspicious/noExplicitAny: an entity without model
type Loose = any

/** Calls of the code below, in order. */
export const calls: string[] = []
/** Error objects that events return, by `kind` or `kind attribute`. */
export const stops = new Map<string, EventError>()
/** Functions to run at an event, by the same keys. */
export const effects = new Map<string, (entity: Loose) => void>()

interface Event {
  kind: string
  attributeName?: string
  saveStatus?: string
  savedAttributes?: readonly string[]
  dropStatus?: string
}

function came({ kind, attributeName }: Event, entity: Loose, detail?: unknown): EventError | undefined {
  const name = attributeName === undefined ? kind : `${kind} ${attributeName}`
  calls.push(detail === undefined ? name : `${name} ${JSON.stringify(detail)}`)
  effects.get(name)?.(entity)
  return stops.get(name)
}

/** Every event, and calculated attributes of every kind. */
export class EmployeeEntity extends Entity('Employee') {
  @event('constructor') made(details: Event) {
    came(details, this)
  }
  @event('touched') touchedAny(details: Event) {
    came({ kind: 'touched any' }, this, details.attributeName)
  }
  @event('touched', 'salary') touchedSalary(details: Event) {
    came(details, this)
  }
  @event('validateSave') validate(details: Event) {
    return came(details, this)
  }
  @event('validateSave', 'salary') validateSalary(details: Event) {
    return came(details, this)
  }
  @event('saving') savingAny(details: Event) {
    return came(details, this)
  }
  @event('saving', 'lastName') savingName(details: Event) {
    return came(details, this)
  }
  @event('afterSave') saved(details: Event) {
    came(details, this, [details.saveStatus, details.savedAttributes])
  }
  @event('validateDrop') validateGone(details: Event) {
    return came(details, this)
  }
  @event('dropping') droppingAny(details: Event) {
    return came(details, this)
  }
  @event('dropping', 'salary') droppingSalary(details: Event) {
    return came(details, this)
  }
  @event('afterDrop') dropped(details: Event) {
    came(details, this, [details.dropStatus, this.ID])
  }

  @calculated({ type: 'string', stored: true, indexed: true }) get label(): string {
    return `${this.lastName}, ${this.firstName} ${this.managerID ?? '-'}`
  }
  set label(value: string) {
    const [lastName, firstName] = value.split(', ')
    this.lastName = lastName
    this.firstName = firstName
  }

  @calculated({ type: 'number' }) get monthly(): number | null {
    calls.push('monthly')
    return this.salary === null ? null : this.salary / 12
  }

  @calculated({ type: 'string' }) get boss(): string | null {
    calls.push('boss')
    return this.manager?.lastName ?? null
  }
  @queryOf('boss') byBoss(asked: { operator: string; value: unknown }) {
    return asked.operator === '==' ? { query: 'manager.lastName = :1', parameters: [asked.value] } : undefined
  }
  @orderByOf('boss') orderedByBoss(asked: { descending: boolean }) {
    return `manager.lastName ${asked.descending ? 'desc' : ''}`
  }
}
