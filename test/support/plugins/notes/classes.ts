import { DataClass, EntitySelection, event, exposed, onHTTPGet } from 'tesser/classes'

export class Note extends DataClass('Note') {
  @event('restrict') withoutSecrets() {
    return this.query('body # secret')
  }
  @onHTTPGet count() {
    return [this.getCount(), this.query('ID # none').length]
  }
  @onHTTPGet backwards() {
    return this.all().orderBy('body desc')
  }
  /** Keys of all entities and of a query, after the last entity has been read alone. */
  @onHTTPGet afterLast() {
    return [this.get('all')!.ID, this.query('body = :1', 'a@').extract('ID'), this.all().extract('ID')]
  }
  @exposed add(ID: string) {
    const note = this.new({ ID, body: 'new' })
    return note.save().success && note.owner
  }
  @exposed change(ID: string) {
    const note = this.get(ID)
    if (!note) return null
    note.body = 'changed'
    return note.save().success
  }
  @exposed bodies(notes: { extract(name: string): unknown }) {
    return notes.extract('body')
  }
}

export class NoteSelection extends EntitySelection('Note') {
  @onHTTPGet keys() {
    return this.extract('ID')
  }
}
