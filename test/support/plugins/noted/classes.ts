import { calculated, DataClass, Entity, event, exposed } from 'tesser/classes'

export class Note extends DataClass('Note') {
  @event('restrict') even() {
    return this.query('rank = 1 or ID = :1', 2)
  }
}

export class NoteEntity extends Entity('Note') {
  @calculated({ type: 'string' }) get shout() {
    return this.title?.toUpperCase() ?? null
  }
  @event('touched', 'title') titled() {
    this.rank ??= 1
  }
  @event('validateSave') refused() {
    if (this.title === 'no') return { errCode: 1, message: 'no such title' }
    return undefined
  }
  @exposed echo(text: string) {
    return text.length
  }
}
