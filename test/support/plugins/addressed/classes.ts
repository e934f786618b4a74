import { DataClass, Entity, EntitySelection, exposed, onHTTPGet } from 'tesser/classes'

const numbersOf = (selection: { extract(name: string): unknown[] }) => selection.extract('n')

export class Item extends DataClass('Item') {
  @exposed byKey(key: string) {
    return [this.get(key)?.n ?? []].flat()
  }
  @exposed byQuery(text: string, ...values: string[]) {
    return numbersOf(this.query(text, ...values))
  }
}

export class ItemSelection extends EntitySelection('Item') {
  @onHTTPGet numbers() {
    return numbersOf(this)
  }
}

export class ItemEntity extends Entity('Item') {
  @onHTTPGet number() {
    return this.n
  }
}
