import { DataClass, ds, Entity, type EntityOf, event, job } from 'tesser/classes'
import { refusal } from './errors.ts'

export class Loan extends DataClass('Loan') {
  @job remind(loan: EntityOf<'Loan'> | null) {
    if (loan && !loan.returned) console.info(`reminded ${loan.member} of the copy ${loan.barcode}`)
  }
}

export class LoanEntity extends Entity('Loan') {
  /** A copy has at most one open loan. */
  @event('validateSave') check() {
    if (this.returned) return
    // Without this loan: of one that is changed, the query finds the former state.
    const others = this.copy?.loans.query('returned = null').minus(this)
    if (others?.length) return refusal(4401, `the copy ${this.barcode} is on loan`, 'copy')
  }

  @event('saving') enqueue() {
    if (this.isNew()) ds.enqueue(ds.Loan.remind, [this], { at: this.due })
  }
}

declare module 'tesser/classes' {
  interface Classes {
    Loan: Loan
    LoanEntity: LoanEntity
  }
}
