import { DataStore, ds, exposed } from 'tesser/classes'

type Values = Readonly<Record<string, unknown>>

/** Functions that ask for what the test names, so that one table can ask for anything. */
export class Store extends DataStore {
  @exposed create(dataClass: string, values: Values) {
    ds[dataClass]!.new(values).saveOrThrow()
  }
  /** The status that code looks at. */
  @exposed statusOf(dataClass: string, values: Values) {
    return ds[dataClass]!.new(values).save()
  }
  @exposed change(dataClass: string, key: string | number, values: Values) {
    const entity = ds[dataClass]!.get(key)!
    entity.fromObject(values)
    entity.saveOrThrow()
  }
  @exposed count(dataClass: string, filter: string, ...values: string[]) {
    return ds[dataClass]!.query(filter, ...values).length
  }
  @exposed sorted(dataClass: string, order: string) {
    return ds[dataClass]!.all().orderBy(order).length
  }
  @exposed sum(dataClass: string, attribute: string) {
    return ds[dataClass]!.all().sum(attribute)
  }
  /** Keeps an entity that a client sends. */
  @exposed keep(entity: { saveOrThrow(): void }) {
    entity.saveOrThrow()
  }
}
