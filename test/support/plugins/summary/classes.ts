import { calculated, Entity } from 'tesser/classes'

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
type Loose = any

export class SummedEntity extends Entity('Summed') {
  @calculated({ type: 'string', stored: true }) get summary() {
    const { state, lent, made, by } = this as Loose
    return `${state} ${lent} ${made === null ? 'never' : 'once'} ${by}`
  }
}
