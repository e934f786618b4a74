import { DataClass, EntitySelection, event, exposed } from 'tesser/classes'

/** A restrict event that hides nothing, and a function that does nothing: the cost of a task depends on its client. */
export class Company extends DataClass('Company') {
  @event('restrict') nothing() {
    return null
  }
}

export class CompanySelection extends EntitySelection('Company') {
  @exposed same() {
    return this
  }
}
