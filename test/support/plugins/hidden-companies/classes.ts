import { DataClass, Entity, EntitySelection, event, exposed, onHTTPGet, Session } from 'tesser/classes'

/** Guests see 1 and 2: both events apply. */
export class Company extends DataClass('Company') {
  @event('restrict') withCode() {
    return Session.isGuest() ? this.query('ID != 4') : undefined
  }
  @event('restrict') notInGermany() {
    return Session.isGuest() ? this.query('code != "DE/@" or code = null') : null
  }
  @exposed keysOf(companies: CompanySelection) {
    return [companies.length, companies.extract('ID'), companies.toCollection('ID').length]
  }
}

export class CompanySelection extends EntitySelection('Company') {}

export class EmployeeEntity extends Entity('Employee') {
  @onHTTPGet company() {
    return this.employer?.name ?? null
  }
}

/** A result that is not a selection shows nothing. */
export class City extends DataClass('City') {
  @event('restrict') wrong() {
    // Possible in code without types.
    return false as unknown as null
  }
}
