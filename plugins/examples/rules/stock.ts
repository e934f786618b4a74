import { ds, Entity, event } from 'tesser/classes'
import { refusal } from './errors.ts'

export class ProductEntity extends Entity('Product') {
  /** Checks both deliveries by clients and the quantities taken by order lines. */
  @event('validateSave') check() {
    if (this.stock < 0) return refusal(4402, `of ${this.name} ${-this.stock} too few are in stock`, 'stock')
  }
}

export class OrderLineEntity extends Entity('OrderLine') {
  /** Takes the quantity of the line from the stock, after returning the quantity that it took before. */
  @event('saving') take() {
    const before = this.isNew() ? null : ds.OrderLine.get(this.ID)
    if (before) add(before.quantity, before.productID)
    add(-this.quantity, this.productID)
  }

  @event('dropping') giveBack() {
    add(this.quantity, this.productID)
  }
}

function add(quantity: number, productID: number): void {
  const product = ds.Product.get(productID)
  // The save of the line is refused then.
  if (!product) return
  product.stock += quantity
  product.saveOrThrow()
}
