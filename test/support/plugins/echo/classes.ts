import { DataClass, DataStore, Entity, EntitySelection, onHTTPGet, Singleton } from 'tesser/classes'

/** Functions of every kind that return what they are called on, and their arguments. */
export class City extends DataClass('City') {
  @onHTTPGet say(...values: unknown[]) {
    return ['City', ...values]
  }
}

export class CitySelection extends EntitySelection('City') {
  @onHTTPGet tell(...values: unknown[]) {
    return [this.length, ...values]
  }
}

export class CityEntity extends Entity('City') {
  @onHTTPGet speak(...values: unknown[]) {
    return [this.name, ...values]
  }
}

export class Store extends DataStore {
  @onHTTPGet say(...values: unknown[]) {
    return ['ds', ...values]
  }
}

export class Horn extends Singleton {
  @onHTTPGet say(...values: unknown[]) {
    return ['Horn', ...values]
  }
}
