import { type BaseSelection, DataClass, exposed } from 'tesser/classes'

const sumsOf = (entities: BaseSelection<string>, attribute: string) => ({
  sum: entities.sum(attribute),
  average: entities.average(attribute),
  ofSome: entities.query('ID < 3').sum(attribute),
  ofList: entities.orderBy('ID desc').slice(0, 2).average(attribute),
})

export class Remote extends DataClass('Remote') {
  @exposed sums(attribute: string) {
    return sumsOf(this.all(), attribute)
  }
}

export class Local extends DataClass('Local') {
  @exposed sums(attribute: string) {
    return sumsOf(this.all(), attribute)
  }
}
