import {
  DataClass,
  DataStore,
  ds,
  Entity,
  event,
  exposed,
  job,
  request,
  schedule,
  Session,
  Singleton,
} from 'tesser/classes'

const note = (text: string): void => {
  ds.Line!.new({ text }).save()
}

export class Store extends DataStore {
  @job write(text: string, times = 1) {
    for (let i = 0; i < times; i++) note(text)
  }
  @job seen(entity: OrderEntity | LineEntity | null, when: string) {
    if (when === 'saving') return
    note(entity === null ? `gone ${when}` : `${entity.getKey()} ${when}`)
  }
  @job({ concurrency: 1 }) one(text: string) {
    note(text)
  }
  @job async asks(url: string, text: string) {
    request.job!.progress({ asking: text })
    await (await fetch(url, { signal: request.signal })).text()
    note(text)
  }
  @job({ attempts: 3, backoffSeconds: 0.01 }) fails(name: string, successful: number) {
    const { attempt, key = '' } = request.job!
    note(`${name}${key} ${attempt}`)
    if (attempt < successful) throw new Error(`attempt ${attempt}`)
  }
  @job({ attempts: 1 }) async exits() {
    await Promise.resolve()
    process.exit()
  }
  @job({ attempts: 1, deadlineSeconds: 0.2 }) loops() {
    for (;;);
  }
  @job({ attempts: 1 }) who() {
    note(JSON.stringify([Session.isServer(), Session.userName, request.traceparent]))
  }
  @job({ attempts: 1 }) shows(value: unknown) {
    note(JSON.stringify(value))
  }
  /** Holds up the thread. */
  @job({ attempts: 1, deadlineSeconds: 5 }) blocks(ms: number) {
    const end = Date.now() + ms
    while (Date.now() < end);
  }
  @job({ attempts: 1 }) returnsOdd() {
    return 1n as unknown
  }
  @schedule('0 0 1 1 *', { timeZone: 'Europe/Rome' }) @job yearly() {
    note('yearly')
  }

  /** Enqueues by the name of the function. */
  @exposed put(name: string, args: never[], options: object) {
    const [owner, method] = name.split('.') as [string, string]
    const object = owner === 'ds' ? ds : owner === 'Counter' ? Counter.prototype : ds[owner]
    return ds.enqueue((object as unknown as Record<string, (...args: never[]) => void>)[method]!, args, options)
  }
  @exposed bad(what: string) {
    const values: Record<string, () => unknown> = {
      function: () => ds.enqueue(() => {}, []),
      text: () => ds.enqueue('ds.write' as never, []),
      notJob: () => ds.enqueue(ds.enqueueTwo as never, []),
      args: () => ds.enqueue(ds.write, 'a' as never),
      bigint: () => ds.enqueue(ds.write, [1n as never]),
      entity: () => ds.enqueue(ds.write, [{ deep: ds.Line!.new() } as never]),
      unsaved: () => ds.enqueue(ds.write, [ds.Line!.new() as never]),
      selection: () => ds.enqueue(ds.write, [ds.Line!.all() as never]),
      long: () => ds.enqueue(ds.write, ['x'.repeat(70_000)]),
      deep: () => ds.enqueue(ds.shows, [JSON.parse('['.repeat(200) + ']'.repeat(200))]),
      many: () => ds.enqueue(ds.write, Array.from({ length: 101 }, String) as never),
      prototype: () => ds.enqueue(ds.shows, [JSON.parse('{"__proto__":1}')]),
      priority: () => ds.enqueue(ds.write, ['a'], { priority: 100 }),
      at: () => ds.enqueue(ds.write, ['a'], { at: 'soon' }),
      key: () => ds.enqueue(ds.write, ['a'], { key: '' }),
    }
    return values[what]!()
  }
  /** In a transaction that is kept, undone or fails. */
  @exposed transacts(how: 'kept' | 'undone' | 'fails') {
    return ds.transaction(() => {
      note(`saved ${how}`)
      ds.enqueue(ds.write, [`job ${how}`])
      if (how === 'fails') throw { errCode: 9, message: 'no' }
      return how === 'kept'
    })
  }
  @exposed enqueueTwice(ID: number) {
    return ds.Order!.new({ ID, state: 'twice' }).save().success
  }
  @exposed enqueueTwo(text: string) {
    return [ds.enqueue(ds.write, [text], { key: 1 }), ds.enqueue(ds.write, [text], { key: '1' })]
  }
}

export class Order extends DataClass('Order') {
  @job ship(id: number) {
    note(`shipped ${id} ${ds.Order!.get(id) !== null}`)
  }
}

export class OrderEntity extends Entity('Order') {
  @event('saving') shipping() {
    ds.enqueue((ds.Order as unknown as Order).ship, [this.ID!], { key: this.ID! })
    ds.enqueue(ds.seen, [this, 'saving'])
    if (this.state === 'refused') return { errCode: 1, message: 'refused' }
  }
  @event('dropping') farewell() {
    ds.enqueue(ds.write, [`dropped ${this.ID}`])
    ds.enqueue(ds.seen, [this, 'dropping'])
    if (this.state === 'kept') return { errCode: 2, message: 'it stays' }
  }
  @event('validateSave') nested() {
    if (this.state === 'nested') ds.transaction(() => ds.enqueue(ds.write, ['never']) === '')
  }
}

/** Its key is not known before it has been saved. */
export class LineEntity extends Entity('Line') {
  @event('saving') numbered() {
    if (this.text === 'numbered') ds.enqueue(ds.seen, [this, 'numbered'])
  }
}

export class Counter extends Singleton {
  #count = 0
  @job counts() {
    // esbuild renames a decorated class that mentions itself; its jobs and addresses keep its name.
    note(`counted ${++this.#count}${Counter.name === 'Counter' ? '' : ` by ${Counter.name}`}`)
  }
}

declare module 'tesser/classes' {
  interface Classes {
    DataStore: Store
    Order: Order
    OrderEntity: OrderEntity
    LineEntity: LineEntity
  }
}
