import { DataClass, EntitySelection, exposed, onHTTPGet } from 'tesser/classes'

export class Employee extends DataClass('Employee') {
  @exposed add(a: number, b: number) {
    return a + b
  }
  @exposed async addLater(a: number, b: number) {
    return a + b
  }
  @onHTTPGet byKey(key: number) {
    return this.get(key)
  }
}

export class EmployeeSelection extends EntitySelection('Employee') {
  @exposed sumOfEach() {
    let sum = 0
    for (const employee of this) sum += employee.salary
    return sum
  }
  @exposed sumOfAll() {
    return this.sum('salary')
  }
}
