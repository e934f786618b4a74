import { calculated, DataClass, ds, Entity, event, exposed } from 'tesser/classes'

export class Order extends DataClass('Order') {
  @exposed make(title: string) {
    const order = this.new()
    order.title = title
    order.save()
    return order.ID
  }
  /** Two orders, or none. */
  @exposed makeTwo(title: string, fails: boolean) {
    return ds.transaction(() => {
      this.make(`${title} 1`)
      this.make(`${title} 2`)
      return !fails
    })
  }
}

export class OrderEntity extends Entity('Order') {
  @calculated({ type: 'string' }) get label() {
    return `#${this.ID}`
  }
  @event('touched', 'note') noted() {
    this.amount ??= 1
  }
}
