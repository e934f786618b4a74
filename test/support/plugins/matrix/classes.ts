import { DataClass, DataStore, Entity, EntitySelection, exposed, Singleton } from 'tesser/classes'

/** A function of every kind, for the matrix of permissions. */
export class Store extends DataStore {
  @exposed hello() {
    return 'hello'
  }
}
export class Team extends DataClass('Team') {
  @exposed cheer() {
    return 'cheer'
  }
}
export class PersonEntity extends Entity('Person') {
  @exposed greet() {
    return 'greet'
  }
}
export class PersonSelection extends EntitySelection('Person') {
  @exposed crowd() {
    return 'crowd'
  }
}
export class Bell extends Singleton {
  @exposed ring() {
    return 'ring'
  }
}
