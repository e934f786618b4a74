import { DataClass, Entity, exposed, onHTTPGet, type Status } from 'tesser/classes'

let greeting: string

/** Called with the options of the plugin, before anything else. */
export function configure(options: { greeting: string }): void {
  greeting = options.greeting
}

export class Person extends DataClass('Person') {
  /** `GET /rest/Person/named?$params=["ada"]` */
  @onHTTPGet named(name: string) {
    return this.query('firstName = :1 or lastName = :1 order by lastName', name)
  }
}

export class PersonEntity extends Entity('Person') {
  /** `GET /rest/Person(1)/greet` */
  @onHTTPGet greet(): string {
    return `${greeting}, ${this.firstName}!`
  }

  /** `POST /rest/Person(1)/rename` with the body `["Lovelace"]` */
  @exposed rename(lastName: string): Status {
    this.lastName = lastName
    return this.save()
  }
}
