import {
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  exposed,
  onHTTPGet,
  OutgoingMessage,
  Singleton,
} from 'tesser/classes'

let bonus = 0

export function configure(options: { bonus: number }): void {
  bonus = options.bonus
}

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'

class Closed extends Error {
  errCode = 4713
  httpStatus = 409
}

export class Employee extends DataClass('Employee') {
  @onHTTPGet wellPaid(minimum: number) {
    return this.query('salary >= :1 order by lastName', minimum)
  }
  @exposed add(a: number, b: number) {
    return a + b
  }
  @onHTTPGet some(first: number, end: number) {
    return this.query('salary >= 0 order by lastName').slice(first, end)
  }
  both() {
    return 'dataclass'
  }
  @onHTTPGet echo(...values: unknown[]) {
    return values
  }
  @exposed bonus() {
    return bonus
  }
  @exposed fresh(lastName: string) {
    return this.new({ lastName, secret: 'x' })
  }
  @exposed nothing() {
    return undefined
  }
  @exposed noEntity() {
    return this.get(999)
  }
  @exposed today() {
    return new Date(Date.UTC(2020, 0, 31, 12))
  }
  @exposed couple() {
    return { first: this.get(1), all: this.query('ID < 3') }
  }
  @exposed nameOf(employee: { lastName: string; isNew(): boolean; touched(): boolean }) {
    return [employee.lastName, employee.isNew(), employee.touched()]
  }
  @exposed keep(employee: { save(): object }) {
    return employee.save()
  }
  @exposed countOf(selection: { length: number }) {
    return selection.length
  }
  hidden() {
    return 'hidden'
  }
  @exposed fails() {
    throw new Error('inner secret')
  }
  @exposed refuses() {
    throw { errCode: 4711, componentSignature: 'acme', message: 'not on Sundays' }
  }
  @exposed refusesByClass() {
    throw new Closed('not on Mondays')
  }
  @exposed blames(httpStatus: unknown) {
    throw { errCode: 4712, message: 'not that', httpStatus }
  }
  @exposed badQuery() {
    return this.query('nowhere = 1').length
  }
  @exposed later() {
    return Promise.resolve(1)
  }
  @exposed circle() {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    return circle
  }
  @exposed big() {
    return { big: 2n ** 60n, small: 5n }
  }
}

export class EmployeeEntity extends Entity('Employee') {
  @onHTTPGet greet() {
    return `Hello ${this.firstName}`
  }
  @exposed raise(percent: number) {
    this.salary *= 1 + percent / 100
    return this.save()
  }
  @exposed self() {
    return this
  }
  @exposed dreamOf(salary: number) {
    this.salary = salary
    return this
  }
  @exposed boss() {
    return this.manager
  }
}

export class EmployeeSelection extends EntitySelection('Employee') {
  @onHTTPGet names() {
    return this.extract('lastName')
  }
  @exposed total() {
    return this.sum('salary')
  }
  @exposed both() {
    return 'selection'
  }
  @onHTTPGet richest() {
    return this.orderBy('salary desc').first()
  }
  @onHTTPGet women() {
    return this.query('woman = true')
  }
}

export class Store extends DataStore {
  @onHTTPGet sizes() {
    return { companies: ds.Company!.getCount(), employees: ds.Employee!.getCount() }
  }
  @onHTTPGet companies() {
    return ds.Company!.all()
  }
  @exposed login(user: string, password: string) {
    return user === password
  }
  @onHTTPGet export(format: string) {
    const answer = new OutgoingMessage()
    if (format === 'csv') {
      answer.setBody('id;name\n1;Ada')
      answer.setHeader('Content-Type', 'text/csv')
      answer.setHeader('Content-Disposition', 'attachment; filename="staff.csv"')
    } else if (format === 'redirect') {
      answer.setStatus(303)
      answer.setHeader('Location', '/elsewhere')
    } else if (format === 'bytes') answer.setBody(new Uint8Array([1, 2, 3]))
    else if (format === 'json') answer.setBody({ a: 1 })
    else if (format === 'svg') answer.setBody({ bytes: new TextEncoder().encode(SVG), mediaType: 'image/svg+xml' })
    else if (format.startsWith('page')) {
      answer.setBody('<script>alert(1)</script>')
      answer.setHeader('content-type', 'text/html')
      if (format === 'page that may') answer.setHeader('content-security-policy', "default-src 'self'")
    } else answer.setHeader('X-Format', format)
    return answer
  }
}

export class Counter extends Singleton {
  private count = 0
  @exposed increment(by = 1) {
    this.count += by
    return this.count
  }
  @onHTTPGet current() {
    return this.count
  }
  hidden() {
    return this.count
  }
}
