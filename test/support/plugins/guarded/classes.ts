import {
  calculated,
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  exposed,
  onHTTPGet,
  Session,
  Singleton,
} from 'tesser/classes'

/** Functions that do with the data of `company` what their callers may or may not do. */
export class Store extends DataStore {
  @onHTTPGet authentify(user: string, password: string) {
    return password === 'right' && Session.setPrivileges({ privileges: 'staff', userName: user })
  }
  @exposed payroll() {
    return ds.Employee!.all().sum('salary')
  }
  @exposed total(path: string) {
    return ds.Employee!.all().sum(path)
  }
  @exposed promotedPayroll() {
    return ds.Employee!.all().sum('salary')
  }
  @exposed selfPromoted() {
    const id = Session.promote('hr')
    const sum = ds.Employee!.all().sum('salary')
    Session.demote(id)
    return [sum, ds.Employee!.get(1)!.salary ?? null]
  }
  /** Before, inside and after the call of a function that is promoted. */
  @exposed calls() {
    const salary = () => ds.Employee!.get(1)!.salary ?? null
    return [salary(), this.promotedPayroll(), ds.Employee!.get(1)!.raised(), salary(), Session.hasPrivilege('hr')]
  }
  @exposed callsOneThatThrows() {
    try {
      this.promotedFailure()
    } catch {
      // Only the state after the call is of interest.
    }
    return Session.hasPrivilege('hr')
  }
  @exposed promotedFailure(): never {
    throw new Error('on purpose')
  }
  @exposed pay(id: number) {
    return [ds.Employee!.get(id)!.salary, ds.Employee!.get(id)!.pay, ds.Employee!.get(id)!.label]
  }
  @exposed objects() {
    return ds.Employee!.query('ID < 3').toCollection()
  }
  @exposed companies() {
    return ds.Company!.getCount()
  }
  @exposed employerOf(id: number) {
    return ds.Employee!.get(id)!.employer
  }
  @exposed company(id: number) {
    return ds.Company!.get(id)
  }
  @exposed setPay(id: number, salary: number) {
    const employee = ds.Employee!.get(id)!
    employee.salary = salary
    return employee.save()
  }
  @exposed hire(lastName: string) {
    return ds.Employee!.new({ lastName }).save()
  }
  @exposed dismiss(id: number) {
    return ds.Employee!.get(id)!.drop()
  }
}

export class Employee extends DataClass('Employee') {
  @onHTTPGet count() {
    return this.getCount()
  }
}

export class EmployeeSelection extends EntitySelection('Employee') {
  @exposed names() {
    return this.extract('lastName')
  }
}

export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'string' }) get label() {
    return `${this.lastName} ${this.salary}`
  }
  @exposed raised() {
    return [this.salary, Session.hasPrivilege('HR')]
  }
  @exposed self() {
    return this
  }
}

export class Vault extends Singleton {
  @exposed open() {
    return 'open'
  }
  @exposed look() {
    return 'closed'
  }
}
