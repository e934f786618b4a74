import { createServer } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { DataClass, DataStore, exposed, OutgoingMessage, request, Singleton } from 'tesser/classes'

export class Abuse extends DataStore {
  @exposed throws() {
    throw new Error('inner secret')
  }
  @exposed traceparent() {
    return request.traceparent
  }
  @exposed throwsNothing() {
    throw undefined
  }
  @exposed({ deadlineSeconds: 0.05 }) loops() {
    for (;;);
  }
  @exposed({ deadlineSeconds: 60 }) loopsLong() {
    for (;;);
  }
  @exposed({ deadlineSeconds: 0.05 }) blocks() {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  @exposed eatsMemory() {
    const all: unknown[] = []
    for (;;) all.push({ a: all.length, b: String(all.length) })
  }
  @exposed eatsOneArray() {
    const all: number[] = []
    for (;;) all.push(1)
  }
  @exposed eatsBuffers() {
    const all: unknown[] = []
    for (;;) all.push(Buffer.alloc(1_000_000, 1))
  }
  @exposed leavesGarbage() {
    let sum = 0
    for (let i = 0; i < 50; i++) sum += new Array(500_000).fill(i).length
    return sum
  }
  @exposed exits() {
    process.exit(1)
  }
  @exposed recurses() {
    const again = (): number => again() + 1
    return again()
  }
  @exposed rejectsLater() {
    Promise.reject(new Error('later'))
    return 'for now'
  }
  @exposed throwsLater() {
    setTimeout(() => {
      throw new Error('later')
    })
    return 'for now'
  }
  @exposed throwsNothingLater() {
    setTimeout(() => {
      throw null
    })
    return 'for now'
  }
  /** Behaves like a library that takes the thread for one of its own. */
  @exposed posts() {
    const messages = ['ready', 1, null, {}, { log: { level: 'x' } }, { outcome: {}, index: 99 }, { connect: {} }]
    for (const message of [...messages, { done: 0 }, { opened: true }]) parentPort!.postMessage(message)
    return Object.keys(workerData).length
  }
  @exposed loopsLater() {
    setTimeout(() => {
      for (;;);
    })
    return 'for now'
  }
  @exposed listens() {
    createServer().listen(0)
    return 'listening'
  }
  @exposed isHuge(length = 5_000_000, sign = 'x') {
    return sign.repeat(length)
  }
  @exposed answers(length: number) {
    const message = new OutgoingMessage()
    message.setBody('x'.repeat(length))
    return message
  }
  @exposed fails(length: number) {
    // A different status: 500 would look like a failure of the server.
    throw { errCode: 1, message: 'x'.repeat(length), httpStatus: 422 }
  }
  @exposed getterThrows() {
    return {
      get value(): never {
        throw new Error('inner secret')
      },
    }
  }
  @exposed throwsAccessor() {
    throw {
      get errCode(): never {
        throw new Error('inner secret')
      },
    }
  }
  @exposed throwsProxy() {
    const trap = () => {
      throw new Error('inner secret')
    }
    throw new Proxy({}, { get: trap, has: trap, getPrototypeOf: trap })
  }
  @exposed exitsInResult() {
    return {
      toJSON: () => process.exit(1),
    }
  }
  @exposed trapsPrototypes() {
    Object.prototype.toString = () => 'trapped'
    return 'done'
  }
  @exposed fine() {
    return 'fine'
  }
  @exposed lengthOf(text: string) {
    return text.length
  }
}

export class Cities extends DataClass('City') {
  @exposed({ deadlineSeconds: 0.2 }) savesAndLoops() {
    const city = this.get('Paris')!
    city.population = 1
    city.save()
    for (;;);
  }
}

export class Fragile extends Singleton {
  private count = 0
  @exposed count1() {
    return ++this.count
  }
  @exposed exits() {
    process.exit()
  }
}
