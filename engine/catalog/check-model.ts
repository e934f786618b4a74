import { checkAttribute } from './check-attribute.ts'
import { ownedProblems } from './check-owned.ts'
import { uniqueProblems } from './check-unique.ts'
import type { CheckedDataClass, DataClasses } from './checked-dataclass.ts'
import { ModelError } from './model-error.ts'
import {
  ATTRIBUTE_SCHEMAS,
  type AttributeModel,
  type DataClassModel,
  type Model,
  SHALLOW_DATA_CLASS_SCHEMA,
  SHALLOW_MODEL_SCHEMA,
} from './model-schema.ts'
import { SCALAR_TYPES } from './value-type.ts'
import { nameProblem } from './names.ts'
import { shapeProblems, show } from './shape-problems.ts'
import { suggestion } from '../base/suggestion.ts'

/**
 * Checks a model: shapes, names, and references between its parts.
 * @throws {ModelError} with every problem found
 */
export function checkModel(model: unknown): Model {
  const problems = shapeProblems(SHALLOW_MODEL_SCHEMA, model, '')
  const raw = isObject(model) && 'dataClasses' in model ? entries(model.dataClasses) : []
  const dataClasses: DataClasses = new Map(
    raw.map(([name, dataClass]) => [name, checkShapes(name, dataClass, problems)]),
  )
  checkNumbersAndNames(dataClasses, problems)
  checkFormerNames(
    new Map([...dataClasses].map(([name, dataClass]) => [name, dataClass?.model])),
    'dataClasses',
    problems,
  )
  for (const dataClass of dataClasses.values()) {
    if (!dataClass) continue
    checkKey(dataClass, problems)
    problems.push(...uniqueProblems(dataClass))
    checkColumns(dataClass, problems)
    checkFormerNames(dataClass.attributes, `dataClasses.${dataClass.name}.attributes`, problems)
    for (const [name, attribute] of dataClass.attributes) {
      const path = `dataClasses.${dataClass.name}.attributes.${name}`
      if (attribute)
        problems.push(...checkAttribute(name, attribute, dataClass, dataClasses).map(text => `${path}${text}`))
    }
  }
  problems.push(...ownedProblems(dataClasses))
  if (problems.length > 0) throw new ModelError(problems)
  return model as Model
}

function checkShapes(name: string, dataClass: unknown, problems: string[]): CheckedDataClass | undefined {
  const path = `dataClasses.${name}`
  const ownProblems = shapeProblems(SHALLOW_DATA_CLASS_SCHEMA, dataClass, path)
  problems.push(...ownProblems)
  if (!isObject(dataClass)) return undefined
  const model = dataClass as DataClassModel
  const attributes = new Map<string, AttributeModel | undefined>()
  for (const [attributeName, attribute] of entries(model.attributes)) {
    const attributePath = `${path}.attributes.${attributeName}`
    const nameFault = nameProblem(attributeName)
    if (nameFault) problems.push(`${attributePath}: the name ${nameFault}`)
    const shapeFaults = attributeShapeProblems(attribute, attributePath)
    problems.push(...shapeFaults)
    attributes.set(attributeName, shapeFaults.length > 0 ? undefined : (attribute as AttributeModel))
  }
  return ownProblems.length > 0 ? undefined : { name, model, attributes }
}

function attributeShapeProblems(attribute: unknown, path: string): string[] {
  if (!isObject(attribute)) return [`${path}: expected an object, received ${show(attribute)}`]
  const kind: unknown = 'kind' in attribute ? attribute.kind : 'storage'
  const kinds = Object.keys(ATTRIBUTE_SCHEMAS)
  if (typeof kind !== 'string' || !kinds.includes(kind)) {
    return [`${path}.kind: ${JSON.stringify(kind)} is none of ${kinds.join(', ')}${suggestion(String(kind), kinds)}`]
  }
  return shapeProblems(ATTRIBUTE_SCHEMAS[kind as keyof typeof ATTRIBUTE_SCHEMAS], attribute, path)
}

/** Checks that names and table numbers are unique. A collection name also names its dataclass. */
function checkNumbersAndNames(dataClasses: DataClasses, problems: string[]): void {
  const namedBy = new Map<string, string>([...dataClasses.keys()].map(name => [name, `dataClasses.${name}`]))
  const numberedBy = new Map<number, string>()
  for (const [name, dataClass] of dataClasses) {
    const path = `dataClasses.${name}`
    const fault = nameProblem(name)
    if (fault) problems.push(`${path}: the name ${fault}`)
    if (!dataClass) continue
    const { collectionName = `${name}Selection`, tableNumber } = dataClass.model
    const collectionPath = `${path}.collectionName`
    const collectionFault = dataClass.model.collectionName === undefined ? undefined : nameProblem(collectionName)
    if (collectionFault) problems.push(`${collectionPath}: "${collectionName}" ${collectionFault}`)
    const other = namedBy.get(collectionName)
    if (other) problems.push(`${collectionPath}: "${collectionName}" also names ${other}; every name must be different`)
    namedBy.set(collectionName, collectionPath)
    if (tableNumber === undefined) continue
    const holder = numberedBy.get(tableNumber)
    if (holder) problems.push(`${path}.tableNumber: ${tableNumber} is also that of ${holder}; leave one of them out`)
    numberedBy.set(tableNumber, path)
  }
}

/** Checks that stored data of a former name moves to one new name only. */
function checkFormerNames(
  all: ReadonlyMap<string, { formerName?: string } | undefined>,
  path: string,
  problems: string[],
): void {
  const takenBy = new Map<string, string>()
  for (const [name, each] of all) {
    const former = each?.formerName
    if (former === undefined) continue
    const other = takenBy.get(former)
    if (other) problems.push(`${path}.${name}.formerName: "${former}" is also that of ${other}; leave one of them out`)
    takenBy.set(former, name)
  }
}

function checkKey({ name, model, attributes }: CheckedDataClass, problems: string[]): void {
  const path = `dataClasses.${name}.key`
  const key = attributes.get(model.key)
  if (!attributes.has(model.key)) {
    problems.push(`${path}: there is no attribute "${model.key}" in ${name}${suggestion(model.key, attributes.keys())}`)
  } else if (key && (key.kind ?? 'storage') !== 'storage') {
    problems.push(`${path}: "${model.key}" is a ${key.kind} attribute; a key is a storage attribute`)
  } else if (key && 'type' in key && !(SCALAR_TYPES as readonly string[]).includes(key.type)) {
    problems.push(`${path}: "${model.key}" has type ${key.type}; a key has one of ${SCALAR_TYPES.join(', ')}`)
  } else if (key?.scope === 'private' && model.scope !== 'private') {
    problems.push(`${path}: "${model.key}" is private, but every answer names an entity by its key; make it public`)
  }
  const counters = [...attributes].filter(([, a]) => a && 'autoFill' in a && a.autoFill === 'increment').map(([n]) => n)
  if (counters.length > 1) {
    problems.push(
      `dataClasses.${name}: ${counters.join(' and ')} have "autoFill": "increment"; one counter for each dataclass`,
    )
  }
}

/** Checks the columns of a dataclass, which only a remote one has. */
function checkColumns({ name, model, attributes }: CheckedDataClass, problems: string[]): void {
  for (const [attributeName, attribute] of attributes) {
    if (!attribute || !('column' in attribute)) continue
    const path = `dataClasses.${name}.attributes.${attributeName}.column`
    if (!model.storage) problems.push(`${path}: ${name} has no table; "storage" of the dataclass names one`)
    else if (typeof attribute.column !== 'string' && (model.key !== attributeName || attribute.type !== 'string')) {
      problems.push(`${path}: several columns are for a key of type string`)
    }
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Entries of an object; none for other values, whose shape has already been reported. */
const entries = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : [])
