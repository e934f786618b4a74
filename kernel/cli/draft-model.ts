import { loadModel } from '../../engine/index.ts'

/** An attribute as in a model file. */
export type DraftAttribute = Readonly<Record<string, unknown>>

export interface DraftClass {
  readonly key: string
  readonly attributes: Readonly<Record<string, DraftAttribute>>
  readonly [property: string]: unknown
}

/** Content of a model file that is being made from another description of the data. */
export interface DraftModel {
  readonly name: string
  readonly dataClasses: Readonly<Record<string, DraftClass>>
}

/** Attributes that a model has all together or not at all, such as the two directions of a relation. */
export interface Addition {
  /** Name for the operator, such as `Book.author`. */
  readonly subject: string
  readonly attributes: readonly (readonly [dataClass: string, name: string, attribute: DraftAttribute])[]
}

/** Called with each thing that a model cannot have, and the reason. */
export type OnLeft = (subject: string, reason: string) => void

/** Problems that the checks of the model find; their own words. */
export function modelProblems(model: DraftModel): readonly string[] {
  try {
    loadModel(model)
    return []
  } catch (error) {
    if (error instanceof Error && 'problems' in error) return error.problems as string[]
    throw error
  }
}

/** Adds what the checks of the model accept. An addition may need another one, such as an alias of an alias. */
export function grow(model: DraftModel, additions: readonly Addition[], onLeft: OnLeft): DraftModel {
  const whole = withAdditions(model, additions)
  if (modelProblems(whole).length === 0) return whole
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
  const probe = (each: DraftAttribute): DraftModel => {
    const key = `${name}_`
    return { name: 'probe', dataClasses: { Probe: { key, attributes: { [key]: { type: 'long' }, [name]: each } } } }
  }
  if (name.startsWith('__')) {
    onLeft(subject, 'names that start with "__" are reserved for the protocol')
    return undefined
  }
  if (modelProblems(probe(attribute)).length === 0) return attribute
  const bare = typeOf(attribute)
  if (modelProblems(probe(bare)).length > 0) {
    onLeft(subject, reasonOf(probe(bare)))
    return undefined
  }
  onLeft(`${subject}: limits`, reasonOf(probe(attribute)))
  return bare
}

const TYPE_OPTIONS = ['type', 'simpleDate', 'scale', 'asText', 'dimension', 'scope']

/** Type of an attribute, without indexes and limits. */
export const typeOf = (attribute: DraftAttribute): DraftAttribute =>
  Object.fromEntries(Object.entries(attribute).filter(([name]) => TYPE_OPTIONS.includes(name)))

/** Attributes in the order of `names`; others follow. */
export function inOrder(dataClass: DraftClass, names: readonly string[]): DraftClass {
  const place = (name: string): number => (names.includes(name) ? names.indexOf(name) : names.length)
  const attributes = Object.entries(dataClass.attributes).sort(([a], [b]) => place(a) - place(b))
  return { ...dataClass, attributes: Object.fromEntries(attributes) }
}

function withAdditions(model: DraftModel, additions: readonly Addition[]): DraftModel {
  const dataClasses = { ...model.dataClasses }
  for (const { attributes } of additions) {
    for (const [dataClass, name, attribute] of attributes) {
      const owner = dataClasses[dataClass]!
      dataClasses[dataClass] = { ...owner, attributes: { ...owner.attributes, [name]: attribute } }
    }
  }
  return { ...model, dataClasses }
}

/** First problem of a model, without the place in a file that does not exist. */
const reasonOf = (model: DraftModel): string => modelProblems(model)[0]!.replace(/^[^ ]*: /, '')
