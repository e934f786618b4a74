import { dirname, relative, resolve } from 'node:path'
import { loadModel } from '../../engine/index.ts'

/** Content of a model file that is created from another description of the data. */
export interface DraftModel {
  readonly name: string
  readonly dataClasses: Record<string, DraftClass>
}

export interface DraftClass {
  readonly key: string
  readonly attributes: Record<string, DraftAttribute>
  readonly collectionName?: string
  /** `table`: name of the table in the source, where it differs. */
  readonly extraProperties?: { readonly table?: string }
  readonly [property: string]: unknown
}

export interface DraftAttribute {
  readonly kind?: string
  readonly type?: string
  /** `column`: name of the column in the source, where it differs. */
  readonly extraProperties?: { readonly column?: string }
  [property: string]: unknown
}

type PlacedAttribute = readonly [dataClass: string, name: string, attribute: DraftAttribute]

/** Attributes that a model must have together, such as the two directions of a relation. */
export interface Addition {
  /** Name for the operator, such as `Book.author`. */
  readonly subject: string
  readonly attributes: readonly PlacedAttribute[]
}

/** Called with each thing that a model cannot have, and the reason. */
export type OnLeft = (subject: string, reason: string) => void

/** An attribute without the properties that are undefined or false. */
export const attributeWith = (properties: Readonly<Record<string, unknown>>): DraftAttribute =>
  Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined && value !== false))

const TYPE_OPTIONS = ['type', 'simpleDate', 'scale', 'asText', 'dimension']

/** Type of an attribute, without indexes and limits. @param others properties that are kept, too */
export const typeOf = (attribute: DraftAttribute, ...others: readonly string[]): DraftAttribute =>
  Object.fromEntries(Object.entries(attribute).filter(([name]) => [...TYPE_OPTIONS, ...others].includes(name)))

interface DraftRelation {
  readonly from: string
  readonly name: string
  readonly to: string
  readonly foreignKey: string
  /** Name of the inverse relation; undefined if there is none. */
  readonly inverse: string | undefined
  readonly onDelete?: string | undefined
  /** Collection of `from`. */
  readonly collection?: string
}

/** A to-one relation, and its inverse relation. */
export function relationOf(relation: DraftRelation): Addition {
  const { from, name, to, foreignKey, inverse, onDelete, collection = `${from}Selection` } = relation
  const toOne = attributeWith({ kind: 'relatedEntity', type: to, foreignKey, inverseName: inverse, onDelete })
  const toMany = { kind: 'relatedEntities', type: collection, inverseName: name }
  const back: PlacedAttribute[] = inverse === undefined ? [] : [[to, inverse, toMany]]
  return { subject: `${from}.${name}`, attributes: [[from, name, toOne], ...back] }
}

/** Adds attributes to a model. */
export function add({ dataClasses }: DraftModel, { attributes }: Pick<Addition, 'attributes'>): void {
  for (const [dataClass, name, attribute] of attributes) dataClasses[dataClass]!.attributes[name] = attribute
}

/** Text of the model file `path`, which names its schema. */
export const modelText = (model: DraftModel, path: string): string =>
  `${JSON.stringify({ $schema: schemaReference(path, 'model'), ...model }, null, 2)}\n`

/** Reference from the file `path` to a schema of this package, which is installed in the working directory. */
export function schemaReference(path: string, schema: 'model' | 'tesser.config'): string {
  const folder = relative(dirname(resolve(path)), process.cwd()).replaceAll('\\', '/')
  return `${folder && `${folder}/`}node_modules/tesser/config/${schema}.schema.json`
}

/** Problems that the model checks find, in their wording. */
export function modelProblems(model: DraftModel): readonly string[] {
  try {
    loadModel(model)
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

/** Adds everything that the model checks accept. An addition may need another one, such as an alias of an alias. */
export function grow(model: DraftModel, additions: readonly Addition[], onLeft: OnLeft): DraftModel {
  const fullModel = withAdditions(model, additions)
  if (modelProblems(fullModel).length === 0) return fullModel
  let grown = model
  let open = additions
  for (let before = open.length + 1; open.length < before; ) {
    before = open.length
    open = open.filter(addition => {
      const next = withAdditions(grown, [addition])
      if (modelProblems(next).length > 0) return true
      grown = next
      return false
    })
  }
  for (const addition of open) onLeft(addition.subject, reasonOf(withAdditions(grown, [addition])))
  return grown
}

function withAdditions(model: DraftModel, additions: readonly Addition[]): DraftModel {
  const grown = structuredClone(model)
  for (const addition of additions) add(grown, addition)
  return grown
}

/** First problem of a model, without its position, since the file does not exist. */
const reasonOf = (model: DraftModel): string => modelProblems(model)[0]!.replace(/^[^ ]*: /, '')

/**
 * An attribute as far as a model can have it: without its limits if these cannot be used.
 * @returns undefined if a model cannot have it at all
 */
export function usable(
  dataClass: string,
  name: string,
  attribute: DraftAttribute,
  onLeft: OnLeft,
): DraftAttribute | undefined {
  const subject = `${dataClass}.${name}`
  const key = `${name}_`
  const probe = (each: DraftAttribute): DraftModel => ({
    name: 'probe',
    dataClasses: { Probe: { key, attributes: { [key]: { type: 'long' }, [name]: each } } },
  })
  if (isReserved(subject, name, onLeft)) return undefined
  if (modelProblems(probe(attribute)).length === 0) return attribute
  const bareType = typeOf(attribute, 'scope')
  if (modelProblems(probe(bareType)).length > 0) {
    onLeft(subject, reasonOf(probe(bareType)))
    return undefined
  }
  onLeft(`${subject}: limits`, reasonOf(probe(attribute)))
  return bareType
}

/** True for a name of the protocol, which is left out. */
export function isReserved(subject: string, name: string, onLeft: OnLeft): boolean {
  if (!name.startsWith('__')) return false
  onLeft(subject, 'names that start with "__" are reserved for the protocol')
  return true
}

/** A model whose attributes are in the given order within each dataclass; attributes without a given position follow. */
export function inOrder(model: DraftModel, namesOf: (dataClass: string) => readonly string[]): DraftModel {
  const dataClasses = Object.entries(model.dataClasses).map(([dataClass, { attributes, ...rest }]) => {
    const names = namesOf(dataClass)
    const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length)
    const sortedAttributes = Object.entries(attributes).sort(([a], [b]) => place(a) - place(b))
    return [dataClass, { ...rest, attributes: Object.fromEntries(sortedAttributes) }]
  })
  return { ...model, dataClasses: Object.fromEntries(dataClasses) }
}
