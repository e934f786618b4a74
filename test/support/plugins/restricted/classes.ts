import { DataClass, ds, Entity, event, exposed, onHTTPGet, Session } from 'tesser/classes'

export class Company extends DataClass('Company') {
  /** Queries the own class and others, whose restrict events would call each other without end. */
  @event('restrict') ofGuests() {
    if (!Session.isGuest()) return
    return this.query('ID = 1 or (ID = 2 and staff.lastName = Hopper)')
  }
  @onHTTPGet seen() {
    return [this.all().extract('ID'), this.getCount(), this.get(3), this.query('ID = :1', 3).length]
  }
}

/** Employees whose company is visible, and those without. */
export class Employee extends DataClass('Employee') {
  @event('restrict') ofCompanies() {
    return this.query('employerID = null or employer.ID > 0')
  }
  @onHTTPGet chiefs() {
    return this.all().related('manager')
  }
}

export class EmployeeEntity extends Entity('Employee') {
  @onHTTPGet chief() {
    return this.manager
  }
}

export class City extends DataClass('City') {
  @event('restrict') none() {
    return null
  }
}

export class Tag extends DataClass('Tag') {
  @event('restrict') wrong() {
    return ds.City!.all()
  }
  @exposed make() {
    return this.new({ byte: 1 }).save()
  }
}
