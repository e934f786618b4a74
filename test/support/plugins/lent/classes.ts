import { calculated, Entity } from 'tesser/classes'

export class LoanEntity extends Entity('Loan') {
  @calculated({ type: 'bool', stored: true }) get isOut() {
    return this.reader === null ? true : null
  }
}
