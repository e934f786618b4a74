import { calculated, Entity } from 'tesser/classes'

export class CompanyEntity extends Entity('Company') {
  @calculated({ type: 'string' }) get loud() {
    return `${this.name}!`
  }
}
