import { DataClass, event, onHTTPGet } from 'tesser/classes'

export class Passage extends DataClass('Passage') {
  /** Items that point to the right, by a vector of their own. */
  @event('restrict') toTheRight() {
    return this.query('embedding > :1', { vector: [1, 0, 0], threshold: 0.5 })
  }
  @onHTTPGet nearest() {
    return this.query('embedding > :1', { vector: [0, 1, 0], threshold: null })
  }
}
