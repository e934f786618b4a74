/** A pending delivery, in the order of its entity. */
interface Queued {
  /** Entity. */
  readonly key: string
}

/**
 * Deliveries of one hook: deliveries of the same entity one after the other, all others concurrently up to a limit. A delivery that has to
 * wait only delays its own entity.
 */
export class DeliveryQueue<T extends Queued> {
  /** Deliveries of each entity, in order: the first of them is ready, running or waiting. */
  private readonly entities = new Map<string, T[]>()
  private ready: T[] = []
  private runningCount = 0
  /** Unfinished deliveries, in the order of the log. */
  private readonly open = new Set<T>()

  /** @param run starts a delivery, which ends by {@link finish} or {@link postpone} */
  constructor(
    private readonly concurrency: number,
    private readonly run: (delivery: T) => void,
  ) {}

  /** Number of deliveries that are not finished. */
  get size(): number {
    return this.open.size
  }

  get oldest(): T | undefined {
    return this.open.values().next().value
  }

  add(delivery: T): void {
    this.open.add(delivery)
    const earlierDeliveries = this.entities.get(delivery.key)
    if (earlierDeliveries) earlierDeliveries.push(delivery)
    else {
      this.entities.set(delivery.key, [delivery])
      this.ready.push(delivery)
    }
    this.start()
  }

  finish(delivery: T): void {
    this.runningCount--
    this.open.delete(delivery)
    const deliveries = this.entities.get(delivery.key)!
    deliveries.shift()
    if (deliveries.length > 0) this.ready.push(deliveries[0]!)
    else this.entities.delete(delivery.key)
    this.start()
  }

  /** Ends an attempt. The delivery runs again when {@link resume} is called. */
  postpone(): void {
    this.runningCount--
    this.start()
  }

  resume(delivery: T): void {
    this.ready.push(delivery)
    this.start()
  }

  /** Starts no further deliveries. */
  stop(): void {
    this.ready = []
    this.entities.clear()
    this.open.clear()
  }

  private start(): void {
    while (this.runningCount < this.concurrency && this.ready.length > 0) {
      this.runningCount++
      this.run(this.ready.shift()!)
    }
  }
}
