/** Descriptions of the data model, as the catalog has them. */
export interface Attribute {
  readonly name: string
  readonly kind: 'storage' | 'alias' | 'calculated' | 'relatedEntity' | 'relatedEntities'
  /** `string`, `long`, `date`, …; for a relation the dataclass or its selection. */
  readonly type: string
  readonly description?: string
  readonly indexed?: boolean
  readonly identifying?: boolean
  readonly unique?: boolean
  readonly autosequence?: boolean
  readonly readOnly?: boolean
  readonly mandatory?: boolean
  /** Default value for new entities. */
  readonly default?: unknown
  readonly multiLine?: boolean
  readonly simpleDate?: boolean
  readonly scale?: number
  /** Number of elements of a vector. */
  readonly dimension?: number
  readonly minValue?: number
  readonly maxValue?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  /** All values that it can have. */
  readonly choices?: readonly string[]
  readonly path?: string
  readonly foreignKey?: string
  readonly inverseName?: string
  readonly reversePath?: boolean
}

export interface ClassFunction {
  readonly name: string
  readonly applyTo: 'dataStore' | 'dataClass' | 'entityCollection' | 'entity' | 'singleton'
  readonly allowedOnHTTPGET?: boolean
}

export interface DataClass {
  readonly name: string
  readonly collectionName: string
  readonly extraProperties?: { readonly label?: string }
  readonly attributes: readonly Attribute[]
  readonly key: readonly { readonly name: string }[]
  readonly methods?: readonly ClassFunction[]
}

export const INTEGERS: ReadonlySet<string> = new Set(['byte', 'word', 'long', 'long64'])
/** Types of the catalog whose values are numbers. A decimal is a `number`, or a `string`, with a `scale`. */
export const NUMBERS: ReadonlySet<string> = new Set([...INTEGERS, 'number', 'float'])

export const isRelation = ({ kind }: Attribute): boolean => kind === 'relatedEntity' || kind === 'relatedEntities'
export const isVector = ({ type, dimension }: Attribute): boolean => type === 'object' && dimension !== undefined
/** Name of the score of entities in a search by meaning or similarity. Filters cannot name it. */
export const SCORE = '__SCORE'
/** Shape of values where it differs from the catalog's type: `vector` for an object with a fixed dimension. */
export const shapeOf = (attribute: Attribute): string => (isVector(attribute) ? 'vector' : attribute.type)

export function attributeOf(dataClass: DataClass, name: string): Attribute | undefined {
  return dataClass.attributes.find(each => each.name === name)
}
