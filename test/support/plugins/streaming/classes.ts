import { Readable } from 'node:stream'
import {
  DataClass,
  DataStore,
  ds,
  Entity,
  EntitySelection,
  event,
  exposed,
  onHTTPGet,
  OutgoingMessage,
  ProtocolError,
  request,
  Session,
  Singleton,
} from 'tesser/classes'

const ask = async (url: string): Promise<string> => (await fetch(url)).text()
const later = <T>(value: T): Promise<T> => new Promise(resolve => setImmediate(resolve, value))
const never = (): Promise<never> => new Promise(() => {})
const BLOCK = 'x'.repeat(64 * 1024)
let made = 0

const tea = () =>
  new ProtocolError({
    name: 'TEA',
    httpStatus: 418,
    entries: [{ message: 'short and stout', componentSignature: 'tea', errCode: 7 }],
  })

function message(body: unknown, status = 200): OutgoingMessage {
  const answer = new OutgoingMessage()
  answer.setStatus(status)
  answer.setBody(body)
  answer.setHeader('Content-Type', 'text/csv')
  return answer
}

export class Store extends DataStore {
  @onHTTPGet async *counts(count: number) {
    for (let i = 0; i < count; i++) yield i
  }
  @onHTTPGet *countsAtOnce(count: number) {
    for (let i = 0; i < count; i++) yield i
  }
  @exposed async *kinds() {
    yield [1, 'a\nb', null, true]
    yield undefined
    yield { at: new Date(0), big: 2n ** 60n, city: ds.City!.get('Paris')!.name }
    yield ds.City!.get('Paris')
    yield ds.City!.query('population > 10 order by name')
  }
  @exposed *mixes() {
    yield 1
    yield message('no')
  }
  @exposed async *waits(url: string) {
    yield ds.City!.getCount()
    yield await ask(url)
    yield ds.City!.getCount()
  }
  @exposed async *saves() {
    for (const name of ['Oslo', 'Rome']) {
      ds.City!.new({ name }).save()
      yield await later(ds.City!.getCount())
    }
  }
  @exposed async *callsOthers() {
    yield* this.counts(2)
    for (const value of this.countsAtOnce(2)) yield value
    yield [...this.countsAtOnce(3)]
  }
  /** A promise of a generator. */
  @exposed async returnsGenerator() {
    await later(0)
    return this.countsAtOnce(2)
  }
  @exposed *throwsFirst() {
    if (made >= 0) throw tea()
    yield 1
  }
  @exposed async *throwsLater() {
    yield await later(0).then(() => {
      throw new Error('inner secret')
    })
  }
  @exposed async *throwsAfter() {
    yield 1
    yield await later(2)
    throw tea()
  }
  @exposed *throwsAtOnce() {
    yield 1
    throw new Error('inner secret')
  }
  @exposed async *forgets(url: string) {
    yield 1
    void ask(url)
  }
  @exposed async *exits() {
    yield 1
    await later(0)
    await later(0)
    process.exit(1)
  }
  @exposed({ deadlineSeconds: 1 }) async *stalls() {
    yield 1
    await never()
  }
  @exposed({ deadlineSeconds: 0.2 }) *loops() {
    while (made >= 0);
    yield 1
  }
  /** Without end, until its client goes. */
  @exposed({ deadlineSeconds: 60 }) async *floods(url: string) {
    try {
      for (made = 0; ; made++) yield BLOCK
    } finally {
      await ask(`${url}?ended=${request.signal.aborted},${ds.City!.getCount()}`)
    }
  }
  @exposed({ deadlineSeconds: 60 }) *floodsAtOnce(url: string) {
    try {
      for (made = 0; ; made++) yield BLOCK
    } finally {
      void ask(`${url}?ended=${request.signal.aborted},${ds.City!.getCount()}`).catch(() => {})
    }
  }
  @exposed({ deadlineSeconds: 60 }) async *listens(url: string) {
    yield 'begun'
    await fetch(url, { signal: request.signal }).catch(async (error: Error) => ask(`${url}?ended=${error.name}`))
  }
  @exposed made() {
    return made
  }
  @exposed async *stores() {
    Session.storage.seen = Number(Session.storage.seen ?? 0) + 1
    yield Session.storage.seen
  }
  @exposed message(kind: string) {
    switch (kind) {
      case 'generator':
        return message(
          (async function* () {
            yield 'id;name\n'
            yield Buffer.from('1;Ada\n')
          })(),
          201,
        )
      case 'synchronous':
        return message(this.countsAtOnce(0), 201)
      case 'readable':
        return message(Readable.from(['id;name\n', Buffer.from('1;Ada\n')], { objectMode: true }), 201)
      case 'web':
        return message(new Blob(['id;name\n', '1;Ada\n']).stream(), 201)
      case 'fails':
        return message(
          (async function* () {
            yield 'id;name\n'
            await later(0)
            throw new Error('inner secret')
          })(),
        )
      case 'failsFirst':
        return message(
          (async function* () {
            yield await later(0).then(() => {
              throw tea()
            })
          })(),
        )
      default:
        return message(this.countsAtOnce(1))
    }
  }
}

export class Counter extends Singleton {
  private calls = 0
  @exposed *numbers() {
    yield ++this.calls
    yield ++this.calls
  }
}

export class City extends DataClass('City') {
  @exposed async *names() {
    for (const { name } of this.all().orderBy('name')) yield await later(name)
  }
}

export class CitySelection extends EntitySelection('City') {
  @onHTTPGet *each() {
    for (const city of this) yield city
  }
}

export class CityEntity extends Entity('City') {
  @exposed async *letters() {
    yield* this.name!
  }
  @event('afterSave') done() {}
}
