import { DataStore, ds, Entity, event, exposed } from 'tesser/classes'

// biome-ignore lint/suspicious/noExplicitAny: entities without a model
type Loose = any

const shown = ({ lent, info, shelf, made, by, code }: Loose) => ({
  ...{ lent, info, shelf: shelf?.code ?? null, by },
  made: made === null ? null : typeof made,
  code: code === null ? null : typeof code,
})

/** Its events note what they see in `seen`, if that is an array. */
export class CodedEntity extends Entity('Coded') {
  @event('constructor') begins() {
    this.first = shown(this)
  }
  @event('validateSave') checks() {
    if (this.title === 'refused') return { errCode: 5, message: 'no', seriousError: true }
    this.second = { ...shown(this), touched: (this as Loose).touchedAttributes() }
    return undefined
  }
}

const classes = ds as Loose

export class Store extends DataStore {
  /** The values of a new entity, before anything is saved. */
  @exposed fresh(name: string) {
    const entity: Loose = classes[name].new()
    return { ...shown(entity), key: entity.getKey(), touched: entity.touchedAttributes(), stamp: entity.getStamp() }
  }
  @exposed add(name: string, values: object) {
    const entity: Loose = classes[name].new(values)
    return entity.save()
  }
  @exposed addTogether(name: string, values: object[]) {
    return ds.transaction(() => values.every(each => classes[name].new(each).save().success))
  }
  @exposed collect(name: string, values: object[]) {
    return classes[name].fromCollection(values).length
  }
  /** The content of an object of the model does not change with that of an entity. */
  @exposed tag(name: string, tag: string) {
    const entity: Loose = classes[name].new()
    entity.info.tags.push(tag)
    entity.save()
    return [entity.info, classes[name].new().info]
  }
  /** Saves again after a refusal, later. */
  @exposed addLate(name: string) {
    const entity: Loose = classes[name].new({ title: 'refused' })
    const first = entity.save().success
    entity.title = 'later'
    return [first, entity.save().success, entity.by]
  }
}
