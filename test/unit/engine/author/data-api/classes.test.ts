import t from 'tap'
import {
  calculated,
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  event,
  exposed,
  onHTTPGet,
  queryOf,
  Singleton,
} from '../../../../../engine/author/data-api/classes.ts'
import {
  type AuthorClass,
  authorClasses,
  describeClass,
} from '../../../../../engine/author/declare/describe-classes.ts'
import { openWorld } from '../../../../support/engine/code-world.ts'

class Employee extends DataClass('Employee') {
  @exposed wellPaid(minimum: number) {
    return this.query('salary >= :1 order by lastName', minimum)
  }
}

class EmployeeEntity extends Entity('Employee') {
  readonly #greeting = 'Hello'
  cached = 0

  @onHTTPGet greet() {
    return `${this.#greeting} ${this.firstName}`
  }

  @exposed({ deadlineSeconds: 2 }) raise(percent: number) {
    this.salary *= 1 + percent / 100
    return this.save()
  }

  @calculated({ type: 'string', stored: true }) get fullName(): string {
    return `${this.firstName} ${this.lastName}`
  }

  set fullName(value: string) {
    ;[this.firstName, this.lastName] = value.split(' ')
  }

  @queryOf('fullName') byFullName(asked: { value: unknown }) {
    return { query: 'lastName = :1', parameters: [asked.value] }
  }

  @event('validateSave') check() {}
  @event('touched', 'salary') salaryTouched() {}

  notExposed() {
    this.cached++
    return this.cached
  }
}

class EmployeeSelection extends EntitySelection('Employee') {
  @exposed total() {
    return this.sum('salary')
  }
}

class Store extends DataStore {
  @exposed count() {
    return ds.Employee!.getCount()
  }
}

class Cart extends Singleton {
  private items: string[] = []
  @exposed add(item: string) {
    this.items.push(item)
    return this.items.length
  }
}

t.test('classes of a module that extend those of the data API are found, and described as plain data', async t => {
  const found = authorClasses({
    Employee,
    again: Employee,
    EmployeeEntity,
    Cart,
    DataStore,
    nothing: 1,
    other: class {},
  })
  t.same(found, [Employee, EmployeeEntity, Cart])
  t.same(describeClass(EmployeeEntity), {
    kind: 'entity',
    dataClass: 'Employee',
    name: 'EmployeeEntity',
    members: [
      { kind: 'function', name: 'greet', exposed: true, allowedOnHTTPGET: true },
      { kind: 'function', name: 'raise', exposed: true, allowedOnHTTPGET: false, deadlineSeconds: 2 },
      { kind: 'calculated', name: 'fullName', type: 'string', stored: true },
      { kind: 'queryOf', name: 'byFullName', attribute: 'fullName' },
      { kind: 'event', name: 'check', event: 'validateSave', attribute: undefined },
      { kind: 'event', name: 'salaryTouched', event: 'touched', attribute: 'salary' },
    ],
    setters: ['fullName'],
    fingerprints: { fullName: describeClass(EmployeeEntity).fingerprints.fullName },
    properties: ['greet', 'raise', 'fullName', 'byFullName', 'check', 'salaryTouched', 'notExposed'],
  })
  t.same(describeClass(Cart), {
    kind: 'singleton',
    name: 'Cart',
    members: [{ kind: 'function', name: 'add', exposed: true, allowedOnHTTPGET: false }],
    setters: [],
    fingerprints: {},
    properties: ['add'],
  })
  t.same(structuredClone(describeClass(EmployeeEntity)), describeClass(EmployeeEntity))
})

t.test('the fingerprint of a calculated attribute depends on its code, or on its version alone', async t => {
  const fingerprintOf = (author: AuthorClass) => describeClass(author).fingerprints.name
  class First extends Entity('Employee') {
    @calculated({ type: 'string' }) get name() {
      return 'a'
    }
  }
  class Second extends Entity('Employee') {
    @calculated({ type: 'string' }) get name() {
      return 'b'
    }
  }
  class Third extends Entity('Employee') {
    @calculated({ type: 'string', version: 3 }) get name() {
      return 'c'
    }
  }
  t.match(fingerprintOf(First), /^[\w-]{22}$/)
  t.not(fingerprintOf(First), fingerprintOf(Second))
  t.equal(fingerprintOf(Third), 'version 3')
})

t.test('members of a base class precede those of the derived class', async t => {
  class Base extends DataClass('Employee') {
    @exposed first() {}
  }
  class Derived extends Base {
    @exposed second() {}
  }
  t.same(
    describeClass(Derived).members.map(({ name }) => name),
    ['first', 'second'],
  )
  t.same(
    describeClass(Base).members.map(({ name }) => name),
    ['first'],
  )
})

t.test('entities, selections and dataclasses are instances of the classes of the plugin', async t => {
  const classes: AuthorClass[] = [Employee, EmployeeEntity, EmployeeSelection, Store, Cart]
  const { run, codeSession } = await openWorld(t, { classes })
  run(() => {
    const employees = ds.Employee as unknown as Employee
    t.ok(employees instanceof Employee)
    const paid = employees.wellPaid(80_000) as unknown as EmployeeSelection
    t.ok(paid instanceof EmployeeSelection)
    t.equal(paid.total(), 210_000)
    const ada = employees.get(1) as unknown as EmployeeEntity
    t.ok(ada instanceof EmployeeEntity)
    t.equal(ada.greet(), 'Hello Ada')
    t.equal(ada.fullName, 'Ada Lovelace')
    ada.fullName = 'Ada Byron'
    t.equal(ada.lastName, 'Byron')
    t.equal(ada.notExposed(), 1)
    t.same(ada.raise(10), { success: true })
    t.equal(employees.get(1)?.salary, 99_000.00000000001)
    t.equal((codeSession.dataStore as Store).count(), 6)
    t.equal((codeSession.singleton('Cart') as Cart).add('a'), 1)
    t.equal((codeSession.singleton('Cart') as Cart).add('b'), 2)
    t.equal(codeSession.singleton('Employee'), undefined)
  })
  t.throws(() => new EmployeeEntity(), { message: /ds\.{dataClass}\.new/ })
  t.throws(() => ds.Employee, { message: /only while a call runs/ })
})

t.test('a class for an unknown dataclass, or a second class for one, is refused', async t => {
  const Wrong = class Employees extends DataClass('Employe') {}
  await t.rejects(openWorld(t, { classes: [Wrong] }), { message: /"Employe".*did you mean "?Employee/ })
  const Second = class Other extends DataClass('Employee') {}
  await t.rejects(openWorld(t, { classes: [Employee, Second] }), { message: /Employee and Other/ })
})
