import { ds, Entity, event } from 'tesser/classes'
import { refusal } from './errors.ts'

export class ProductEntity extends Entity('Product') {
  /** For deliveries by clients as well as for what order lines take. */
  @event('validateSave') check() {
    if (this.stock < 0) return refusal(4402, `of ${this.name} ${-this.stock} too few are in stock`, 'stock')
  }
}

export class OrderLineEntity extends Entity('OrderLine') {
  /** Takes from the stock, after what the line had taken before has been returned. */
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
