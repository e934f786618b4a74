import { calculated, Entity } from 'tesser/classes'

export class EmployeeEntity extends Entity('Employee') {
  @calculated({ type: 'long' }) get liveID() {
    return this.ID
  }
  @calculated({ type: 'string' }) get liveFirstName() {
    return this.firstName
  }
  @calculated({ type: 'number' }) get liveSalary() {
    return this.salary
  }
  @calculated({ type: 'bool' }) get liveWoman() {
    return this.woman
  }
  @calculated({ type: 'date' }) get liveBirthDate() {
    return this.birthDate
  }
  @calculated({ type: 'date', simpleDate: true }) get liveHired() {
    return this.hired
  }
  @calculated({ type: 'duration' }) get liveDailyWork() {
    return this.dailyWork
  }
  @calculated({ type: 'long', stored: true }) get storedID() {
    return this.ID
  }
  @calculated({ type: 'string', stored: true, indexed: true }) get storedFirstName() {
    return this.firstName
  }
  @calculated({ type: 'number', stored: true, indexed: true }) get storedSalary() {
    return this.salary
  }
  @calculated({ type: 'bool', stored: true }) get storedWoman() {
    return this.woman
  }
  @calculated({ type: 'date', stored: true, indexed: true }) get storedBirthDate() {
    return this.birthDate
  }
  @calculated({ type: 'date', simpleDate: true, stored: true }) get storedHired() {
    return this.hired
  }
  @calculated({ type: 'duration', stored: true }) get storedDailyWork() {
    return this.dailyWork
  }
}
