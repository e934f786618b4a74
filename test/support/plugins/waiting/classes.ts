import { AsyncLocalStorage } from 'node:async_hooks'
import { EventEmitter, once } from 'node:events'
import { createReadStream } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  event,
  exposed,
  OutgoingMessage,
  ProtocolError,
  request,
  Session,
  Singleton,
} from 'tesser/classes'

const ask = async (url: string): Promise<string> => (await fetch(url)).text()
const never = (): Promise<never> => new Promise(() => {})
const later = <T>(value: T): Promise<T> => new Promise(resolve => setImmediate(resolve, value))
const own = new AsyncLocalStorage<string>()
let kept: () => unknown = () => undefined

export class Store extends DataStore {
  @exposed async asks(url: string) {
    return ask(url)
  }
  /** Not declared as asynchronous. */
  @exposed returnsPromise(url: string) {
    return ask(url).then(text => text.toUpperCase())
  }
  @exposed async withoutAwait() {
    return 'at once'
  }
  @exposed async countsTwice(url: string) {
    const before = ds.City!.getCount()
    await ask(url)
    return [before, ds.City!.getCount()]
  }
  @exposed async savesAfter(url: string, name: string) {
    const city = ds.City!.new({ name })
    city.population = Number(await ask(url))
    const status = await city.save()
    return [status.success, ds.City!.get(name)?.population]
  }
  /** The entity is changed elsewhere meanwhile. */
  @exposed async savesStale(url: string, name: string) {
    const city = ds.City!.get(name)!
    const { population } = city
    await ask(url)
    city.population = population + 1
    return city.save()
  }
  /** It is deleted elsewhere meanwhile. */
  @exposed async returnsGone(url: string, name: string) {
    const city = ds.City!.get(name)!
    await ask(url)
    return city
  }
  @exposed async selections(url: string) {
    const pending = ds.City!.query('population > 10')
    const found = ds.City!.query('population > 10')
    const before = found.length
    await ask(url)
    return [
      before,
      pending.length,
      found.query('population > 10').length,
      [...found].length,
      found.toCollection().length,
    ]
  }
  @exposed async returnsSelection(url: string) {
    const found = ds.City!.query('population > 10 order by name')
    const { length } = found
    await ask(url)
    return length > 0 ? found : null
  }
  @exposed async iterates() {
    const names: string[] = []
    for (const city of ds.City!.query('population > 10 order by name')) names.push(await later(city.name as string))
    return names
  }
  @exposed async message() {
    const answer = new OutgoingMessage()
    answer.setStatus(201)
    answer.setBody(await later('made later'))
    return answer
  }
  @exposed async transacts(url: string) {
    await ask(url)
    const made = await ds.transaction(() => {
      ds.City!.new({ name: 'T1' }).save()
      ds.City!.new({ name: 'T2' }).save()
      return ds.City!.query('name = T@').length
    })
    const kept = await ds.transaction(() => {
      ds.City!.new({ name: 'T3' }).save()
      return false
    })
    return [made, kept, ds.City!.query('name = T@').length]
  }
  @exposed async transactsLater() {
    // As from JavaScript, where nothing checks it.
    const transaction = ds.transaction.bind(ds) as (work: () => unknown) => unknown
    try {
      await transaction(async () => {
        ds.City!.new({ name: 'L1' }).save()
        await later(0)
        ds.City!.new({ name: 'L2' }).save()
      })
    } catch (error) {
      await later(0)
      return [(error as Error).message, ds.City!.query('name = L1 or name = L2').length, ds.City!.getCount()]
    }
    return 'not refused'
  }
  @exposed async callsOthers() {
    return Promise.all([this.withoutAwait(), later('b'), (async () => later('c'))()])
  }
  @exposed async storage(url: string) {
    const before = Session.storage.count ?? 0
    await ask(url)
    Session.storage.count = Number(before) + 1
    return [Session.userName, Session.storage.count]
  }
  @exposed async locals() {
    return own.run('mine', async () => {
      await later(0)
      return [own.getStore(), ds.City!.getCount() > 0]
    })
  }
  @exposed async reads() {
    const stream = createReadStream(fileURLToPath(new URL('file:///proc/self/stat')))
    const [first] = (await once(stream, 'data')) as [Buffer]
    stream.destroy()
    return first.length > 0 && ds.City!.getCount() > 0
  }
  @exposed async throws() {
    await later(0)
    throw new Error('inner secret')
  }
  @exposed async throwsProtocol() {
    await later(0)
    throw new ProtocolError({
      name: 'TEA',
      httpStatus: 418,
      entries: [{ message: 'short and stout', componentSignature: 'tea', errCode: 7 }],
    })
  }
  @exposed async throwsNothing() {
    await later(0)
    throw undefined
  }
  @exposed async refused(url: string) {
    await ask(url)
    return ds.City!.query('nothing = 1').length
  }
  @exposed async signal(url: string) {
    const { signal } = request
    const [states] = await Promise.all([ask(`${url}?aborted=${signal.aborted}`)])
    return [states, signal.aborted]
  }
  /** Tells the gate how it ended. */
  @exposed({ deadlineSeconds: 60 }) async tellsAbort(url: string) {
    await fetch(url, { signal: request.signal }).catch(async (error: Error) => ask(`${url}?ended=${error.name}`))
  }
  /** Ends when its client goes, in one of several ways. */
  @exposed({ deadlineSeconds: 60 }) async endsWithClient(url: string, how: 'fetch' | 'timer' | 'listener' | 'failure') {
    const { signal } = request
    const ways = {
      fetch: () => fetch(url, { signal }),
      timer: () => Promise.all([ask(url), sleep(60_000, undefined, { signal })]),
      listener: () => Promise.all([ask(url), once(new EventEmitter(), 'never', { signal })]),
      failure: () =>
        fetch(url, { signal }).catch(() => {
          throw new Error('something else')
        }),
    }
    try {
      await ways[how]()
    } finally {
      console.log(`ended ${how}`)
    }
  }
  @exposed({ deadlineSeconds: 0.2 }) async tellsDeadline(url: string) {
    await fetch(url, { signal: request.signal }).catch(async (error: Error) => ask(`${url}?ended=${error.name}`))
  }
  @exposed({ deadlineSeconds: 0.2 }) async waitsForever() {
    await never()
  }
  @exposed({ deadlineSeconds: 0.2 }) async savesTooLate(url: string) {
    await ask(url)
    let outcome = 'saved'
    try {
      ds.City!.new({ name: 'too late' }).save()
    } catch (error) {
      outcome = (error as Error).message
    }
    await ask(`${url}?outcome=${encodeURIComponent(outcome)}`)
  }
  @exposed async forgets(url: string) {
    ask(url)
    return 'forgot'
  }
  @exposed async forgetsFetch(url: string) {
    fetch(url)
    return 'forgot'
  }
  @exposed forgetsInSync(url: string) {
    ask(url)
    return 'forgot'
  }
  @exposed async forgetsAll(url: string) {
    await later(0)
    Promise.all([ask(url), later(0)])
    return 'forgot'
  }
  @exposed async handles(url: string) {
    void ask(url).catch(() => {})
    const timer = Promise.race([ask(url), later('first')])
    new Promise(() => {})
    return timer
  }
  @exposed async promiseInside() {
    return { name: 'x', total: later(1) }
  }
  @exposed async rejectsBeside() {
    void (async () => {
      throw new Error('beside')
    })()
    await never()
  }
  @exposed async rejectsAfter() {
    void later(0).then(() => {
      throw new Error('inner secret, after its end')
    })
    return 'answered'
  }
  @exposed async keeps() {
    kept = () => ds.City!.getCount()
    return 'kept'
  }
  @exposed usesKept() {
    return kept()
  }
  @exposed({ deadlineSeconds: 0.3 }) async loopsAfter() {
    await later(0)
    for (;;);
  }
  @exposed({ deadlineSeconds: 0.3 }) async spins() {
    for (;;) await null
  }
  @exposed({ deadlineSeconds: 0.3 }) async burns() {
    for (;;) {
      const end = performance.now() + 10
      while (performance.now() < end);
      await later(0)
    }
  }
  @exposed async exitsAfter() {
    await later(0)
    process.exit(1)
  }
  @exposed async throwsInTimer() {
    setTimeout(() => {
      throw new Error('in a timer')
    }, 1)
    await never()
  }
  @exposed async throwsAfter(url: string) {
    setTimeout(() => {
      throw new Error('after the answer')
    }, 1)
    setTimeout(() => void ask(`${url}?thrown`), 1)
    return 'answered'
  }
  @exposed async eatsMemory() {
    const all: unknown[] = []
    for (;;) {
      for (let i = 0; i < 100_000; i++) all.push({ i, text: String(i) })
      await later(0)
    }
  }
  @exposed async logs(url: string) {
    console.log('before')
    await ask(url)
    console.log('after')
    for (let i = 0; i < 200; i++) console.log('more')
  }
}

export class Counter extends Singleton {
  private inside = 0
  /** The number of calls that are inside at the same time. */
  @exposed async enters(url: string) {
    this.inside++
    await ask(url)
    return this.inside
  }
}

export class City extends DataClass('City') {
  @exposed async biggest(url: string) {
    await ask(url)
    return this.all().orderBy('population desc').first()
  }
}

export class CitySelection extends EntitySelection('City') {
  @exposed async total(url: string) {
    const before = this.length
    await ask(url)
    return [before, this.sum('population')]
  }
}

export class CityEntity extends Entity('City') {
  @exposed async ask(url: string) {
    await ask(url)
    return `${this.name}: ${this.population}`
  }
  @event('afterSave') async tells() {
    const { name, population } = this
    if (!String(name).startsWith('http')) return
    if (population === 1) throw new Error(`inner secret of ${name}`)
    await ask(`${name}?saved=${ds.City!.get(name) !== null}`)
  }
}
