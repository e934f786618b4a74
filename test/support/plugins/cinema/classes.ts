import {
  calculated,
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  event,
  exposed,
  job,
  onHTTPGet,
  orderByOf,
  queryOf,
} from 'tesser/classes'

interface Event {
  kind: string
  operator?: string
  value?: unknown
  descending?: boolean
  saveStatus?: string
  dropStatus?: string
}

const titles = (films: Iterable<unknown>) => Array.from(films as Iterable<{ title: string }>, ({ title }) => title)

export class Store extends DataStore {
  @job noted(title: string) {
    ds.Review!.new({ text: `job of ${title}` }).save()
  }
}

export class Film extends DataClass('Film') {
  /** Everything that reads: selections of selections, orders, sets, aggregates, related entities. */
  @onHTTPGet facts() {
    const all = this.all()
    const long = this.query('length > :1 order by length desc', 100)
    return {
      count: this.getCount(),
      long: titles(long),
      longCount: long.length,
      first: long.first()?.title,
      last: long.last()?.title,
      second: titles(this.all().orderBy('title').slice(1, 3)),
      languages: all.related('language').extract('name'),
      cast: titles(ds.Actor!.query('lastName = Quinn').related('parts').related('film')),
      sum: all.sum('length'),
      longest: all.max('length'),
      rated: all.distinct('rated'),
      both: long.and(this.query('title = @a@')).length,
      either: titles(this.query('ID = 1').or(this.query('ID = 3'))),
      rest: titles(all.minus(long)),
      nested: titles(long.query('title = L@')),
      missing: this.get(99),
      key: this.get(1)?.getKey(),
      path: this.get(1)?.language?.name,
      dangling: ds.Review!.query('filmID = 99').first()?.film,
      reviews: this.get(1)?.reviews.extract('text'),
      ofReviews: titles(ds.Review!.query('stars > 3').related('film')),
      reviewed: titles(this.query('reviews.stars = 2')),
    }
  }
  @exposed rename(id: number, title: string) {
    const film = this.get(id)
    if (!film) return null
    film.title = title
    return film.save()
  }
  @exposed insert(title: string) {
    const film = this.new({ title, length: 90 })
    const status = film.save()
    return { ...status, key: film.getKey(), rate: film.rate, again: this.get(film.getKey() as number)?.title }
  }
  @exposed remove(id: number) {
    return this.get(id)?.drop()
  }
  @exposed stale() {
    const [one, other] = [this.get(2)!, this.get(2)!]
    one.length = 101
    other.length = 102
    return [one.save().success, other.save().status]
  }
  @exposed together() {
    return ds.transaction(() => this.get(1)?.drop())
  }
  @exposed async later() {
    const film = this.get(1)!
    await Promise.resolve()
    return [film.title, this.query('ID > 1').length]
  }
}

export class FilmSelection extends EntitySelection('Film') {
  @onHTTPGet names() {
    return titles(this)
  }
  @onHTTPGet short() {
    return this.query('length <= 108')
  }
}

export class FilmEntity extends Entity('Film') {
  @onHTTPGet shout() {
    return this.title.toUpperCase()
  }
  @calculated({ type: 'string' }) get label(): string {
    return `${this.title} (${this.language?.name ?? '?'})`
  }
  @queryOf('label') byLabel({ value }: Event) {
    return { query: 'title = :1', parameters: [String(value)] }
  }
  @orderByOf('label') orderedByLabel({ descending }: Event) {
    return descending ? 'title desc' : 'title'
  }
  @calculated({ type: 'number' }) get parts(): number {
    return this.cast.length
  }
  @event('validateSave') validate() {
    if (this.title === 'refused') return { errCode: 7001, message: 'not this one', attribute: 'title' }
  }
  @event('saving') completed() {
    if (this.isNew() && this.text === null) this.text = 'written by an event'
    if (this.title === 'enqueues') ds.enqueue((ds as unknown as Store).noted, [this.title])
  }
  @event('afterSave') saved({ saveStatus }: Event) {
    if (this.title.startsWith('log')) ds.Review!.new({ text: `${saveStatus} ${this.title}` }).save()
  }
  @event('validateDrop') mayGo() {
    if (this.title === 'stays') return { errCode: 7002, message: 'it stays', seriousError: true }
  }
  @event('afterDrop') gone({ dropStatus }: Event) {
    ds.Review!.new({ text: `${dropStatus} drop ${this.title}` }).save()
  }
}

/** Masina is hidden, whichever way leads to her. */
export class Actor extends DataClass('Actor') {
  @event('restrict') withoutMasina() {
    return this.query('lastName # Masina')
  }
  @onHTTPGet seen() {
    return [this.getCount(), this.all().extract('lastName'), this.get(2)]
  }
}

/** A selection that is no condition: its entities are named. */
export class Language extends DataClass('Language') {
  @event('restrict') firstTwo() {
    return this.all().orderBy('ID').slice(0, 2)
  }
}

export class PartEntity extends Entity('Part') {
  @onHTTPGet who() {
    return this.actor?.lastName ?? null
  }
}
