/** Employees whose events run code of a test. */
import { ds, Entity, event } from '../../../../../engine/author/data-api/classes.ts'
import type { EventError } from '../../../../../engine/author/declare/event-types.ts'
import { openHookedWorld } from './world.ts'

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
export type Loose = any
export type Code = (entity: Loose) => unknown

/** Code of the events of employees, by kind. */
export const code = new Map<string, Code>()
export const calls: string[] = []
export const run = (kind: string, entity: Loose): EventError | undefined => {
  calls.push(`${kind} ${entity.getKey()}`)
  return (code.get(kind)?.(entity) ?? undefined) as EventError | undefined
}

export class EmployeeEntity extends Entity('Employee') {
  @event('constructor') made() {
    code.get('constructor')?.(this)
  }
  @event('touched', 'lastName') assigned() {
    code.get('touched')?.(this)
  }
  @event('validateSave') validateSave() {
    return run('validateSave', this)
  }
  @event('saving') saving() {
    return run('saving', this)
  }
  @event('afterSave') afterSave({ saveStatus }: { saveStatus: string }) {
    run(`afterSave ${saveStatus}`, this)
  }
  @event('validateDrop') validateDrop() {
    return run('validateDrop', this)
  }
  @event('dropping') dropping() {
    return run('dropping', this)
  }
}

export const NO: EventError = { errCode: 99, message: 'no', seriousError: true }
export const named = (lastName: string): number => ds.Employee!.query('lastName = :1', lastName).length
export const open = (t: Parameters<typeof openHookedWorld>[0]) => openHookedWorld(t, [EmployeeEntity])

/** Runs work in the first run of an event alone. */
export function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}
