import {
  calculated,
  DataClass,
  ds,
  Entity,
  type EventError,
  event,
  exposed,
  onHTTPGet,
  orderByOf,
  queryOf,
} from 'tesser/classes'

interface Event {
  kind: string
  attributeName?: string
  operator?: string
  value?: unknown
  descending?: boolean
  saveStatus?: string
  dropStatus?: string
}

/** Records an event in a new entity, because some events have no effect that clients see. */
function log(text: string): void {
  ds.City!.new({ name: text }).save()
}

const ERRORS: Record<string, EventError> = {
  mild: { errCode: 7001, message: 'rather not', attribute: 'lastName', extraDescription: { field: 'lastName' } },
  serious: { errCode: 7002, message: 'no', attribute: 'secret', seriousError: true },
}

export class Employee extends DataClass('Employee') {
  @onHTTPGet names() {
    return this.query('fullName = "Ada@" order by fullName').extract('fullName')
  }
}

export class EmployeeEntity extends Entity('Employee') {
  /** Appends the event to `notes`, in the order of events. */
  #trace({ kind, attributeName }: Event): void {
    if (this.notes?.startsWith('trace')) this.notes += ` ${kind}${attributeName ? `:${attributeName}` : ''}`
  }

  @event('constructor') made() {
    this.notes = 'trace constructor'
    log('constructed')
  }
  @event('touched', 'salary') salaryTouched(event: Event) {
    this.#trace(event)
  }
  @event('validateSave', 'salary') validateSalary(event: Event) {
    this.#trace(event)
  }
  @event('validateSave') validate(event: Event) {
    this.#trace(event)
    if (this.lastName === 'refused') throw Object.assign(new Error('not this name'), { errCode: 7004 })
    if (this.lastName === 'throws') throw new TypeError('inner secret')
    if (this.lastName === 'loops') for (;;);
    if (this.lastName === 'exits') process.exit(1)
    return ERRORS[this.lastName]
  }
  @event('saving', 'lastName') savingName(event: Event) {
    this.#trace(event)
    if (this.lastName === 'stopped') return { errCode: 7003, message: 'stopped while saving' }
  }
  @event('saving') savingAny(event: Event) {
    this.#trace(event)
  }
  @event('afterSave') saved({ saveStatus }: Event) {
    if (this.lastName.startsWith('log')) log(`${saveStatus} ${this.lastName}`)
  }
  @event('validateDrop') validateDropped() {
    return ERRORS[this.firstName]
  }
  @event('dropping') droppingAny() {
    if (this.firstName === 'stopped') return { errCode: 7003, message: 'stopped while dropping' }
  }
  @event('afterDrop') dropped({ dropStatus }: Event) {
    log(`${dropStatus} drop ${this.ID}`)
  }

  @calculated({ type: 'string' }) get fullName(): string {
    return `${this.firstName} ${this.lastName}`
  }
  set fullName(value: string) {
    ;[this.firstName, this.lastName] = value.split(' ')
  }
  @queryOf('fullName') byFullName({ operator, value }: Event) {
    if (operator !== '==' || value === null) return
    const [first, last = '@'] = String(value).split(' ')
    return { query: 'firstName = :1 and lastName = :2', parameters: [first, last] }
  }
  @orderByOf('fullName') orderedByFullName({ descending }: Event) {
    return descending ? 'firstName desc, lastName desc' : 'firstName, lastName'
  }

  @calculated({ type: 'number' }) get monthly(): number | null {
    return this.salary === null ? null : this.salary / 12
  }
  @calculated({ type: 'string' }) get boss(): string | null {
    return this.manager?.lastName ?? null
  }
  @calculated({ type: 'date', simpleDate: true }) get anniversary(): string | null {
    return this.hired && `2032${this.hired.slice(4)}`
  }
  @calculated({ type: 'bool' }) get shaky(): boolean {
    if (this.lastName === 'Shaky') throw new Error('inner secret')
    return false
  }
  @calculated({ type: 'object' }) get card(): object {
    return { name: this.lastName, reports: this.directReports.length }
  }
  /** Derived from a private attribute, which its handlers name. */
  @calculated({ type: 'bool' }) get secretive(): boolean {
    return this.secret !== null
  }
  @queryOf('secretive') bySecretive({ value }: Event) {
    return value === true ? 'secret = hush' : 'secret = null'
  }
  @orderByOf('secretive') orderedBySecretive({ descending }: Event) {
    return descending ? 'secret desc' : 'secret'
  }
  @calculated({ type: 'string', exposed: false }) get internal(): string {
    return 'internal'
  }
  @calculated({ type: 'string', stored: true, indexed: true }) get initials(): string {
    return `${this.firstName?.[0] ?? ''}${this.lastName[0]}`
  }

  @exposed promote() {
    this.salary = (this.salary ?? 0) + 1000
    return this.save()
  }
}
