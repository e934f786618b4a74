import { calculated, DataClass, Entity, EntitySelection, exposed, onHTTPGet, orderByOf, queryOf } from 'tesser/classes'

const X = [1, 0, 0]

export class Passage extends DataClass('Passage') {
  @exposed find(query: string, ...values: object[]) {
    return this.query(query, ...values)
  }
  @onHTTPGet byName() {
    return this.query('embedding > :question', { parameters: { question: { vector: X, threshold: 0.7 } } })
  }
  @onHTTPGet likeTheFirst() {
    const vector = Float32Array.from(this.get(1)!.embedding)
    return this.query('embedding >= :1 and ID != 1 order by embedding desc', { vector, threshold: -2 })
  }
  @onHTTPGet inside() {
    return this.query('page > 1').query('embedding > :1 order by embedding desc', { vector: X, threshold: -2 })
  }
  @onHTTPGet algebra() {
    const near = this.query('embedding > :1', { vector: X })
    const right = this.query('embedding > :1', { vector: [0, 1, 0] })
    return [near.and(right), near.or(right), near.minus(right)].map(selection => selection.extract('ID'))
  }
  @onHTTPGet aggregates() {
    const near = this.query('embedding > :1', { vector: X })
    return [near.sum('page'), near.max('page'), near.distinct('text'), near.count('embedding'), near.length]
  }
  @onHTTPGet through() {
    const params = { vector: [0, 0], metric: 'euclidean', threshold: 1 }
    return this.query('book.cover <= :1', params).extract('ID')
  }
  @exposed put(key: number, embedding: unknown) {
    const passage = this.get(key)!
    passage.embedding = embedding as number[]
    return passage.save()
  }
  @exposed putSingles(key: number, embedding: number[]) {
    return this.put(key, Float32Array.from(embedding))
  }
  /** Values that JSON cannot express. */
  @exposed putStrange(name: string) {
    const values: Record<string, unknown> = {
      NaN: [1, Number.NaN, 0],
      infinity: [1, 0, -1 / 0],
      sparse: new Array(3),
      bigint: [1n, 2n, 3n],
      like: { length: 3, 0: 1, 1: 2, 2: 3 },
      short: new Float32Array(2),
    }
    return this.put(1, values[name])
  }
  @exposed findStrange(name: string) {
    const values: Record<string, unknown> = {
      NaN: [Number.NaN, 0, 0],
      sparse: new Array(3),
      bigint: [1n, 2n, 3n],
      like: { length: 3, 0: 1, 1: 2, 2: 3 },
      short: new Float32Array(2),
    }
    return this.query('embedding > :1', { vector: values[name] })
  }
  /** Message of the error, which is for the log otherwise. */
  @exposed whyStrange(name: string) {
    try {
      return this.findStrange(name).length
    } catch (error) {
      return (error as Error).message
    }
  }
}

export class PassageEntity extends Entity('Passage') {
  /** A search by meaning under another name. */
  @calculated({ type: 'string' }) get topic() {
    return (this.embedding?.[0] ?? 0) > 0 ? 'x' : 'other'
  }
  @queryOf('topic') byTopic() {
    return { query: 'embedding > :1', parameters: [{ vector: X, threshold: 0.5 }] }
  }
  @orderByOf('topic') orderByTopic({ descending }: { descending: boolean }) {
    return `page ${descending ? 'asc' : 'desc'}`
  }
  @calculated({ type: 'object' }) get doubled() {
    return this.embedding?.map((number: number) => number * 2) ?? null
  }
  @onHTTPGet nearest() {
    const vector = this.embedding
    return this.getDataClass().query('embedding > :1', { vector, threshold: null }).slice(1, 3)
  }
}

export class PassageSelection extends EntitySelection('Passage') {
  @onHTTPGet keys() {
    return this.extract('ID')
  }
}
