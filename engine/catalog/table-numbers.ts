import { ModelError } from './model-error.ts'
import type { DataClassModel, Model } from './model-schema.ts'
import { nameTogether } from './unique-together.ts'

/**
 * Numbers under which the store keeps dataclasses and attributes. They stay when the model changes, and numbers of removed ones
 * are never reused, so that old data cannot be read as something new. A dataclass or attribute that was renamed, and declares
 * its `formerName`, keeps its number and all its stored data. Plain data, kept in the store.
 */
export interface TableNumbers {
  /** Lowest number that no dataclass has ever had. */
  nextTableNumber: number
  dataClasses: Record<string, TableNumbersOfDataClass>
}

interface TableNumbersOfDataClass {
  tableNumber: number
  /** Lowest position that no attribute of the dataclass has ever had. */
  nextPosition: number
  /**
   * Position of each attribute, from 1, of each indexed property: `info.address.city`, and of the index of attributes that are
   * unique together: `copyID + open`.
   */
  attributes: Record<string, number>
}

/** Keys of the store hold both numbers in 16 bits. */
const MAX_NUMBER = 0xffff

/**
 * Assigns numbers to a model: from `previous` where it has them, from `tableNumber` where the model sets it, new ones otherwise.
 * @throws {ModelError} when a `tableNumber` of the model contradicts `previous`, or the numbers are exhausted
 */
export function assignNumbers(model: Model, previous?: TableNumbers): TableNumbers {
  const problems: string[] = []
  const previousClasses = new Map(Object.entries(previous?.dataClasses ?? {}))
  const declaredNumbers = Object.values(model.dataClasses).flatMap(({ tableNumber }) => tableNumber ?? [])
  // New numbers start above all that are or were in use, and above all that the model sets.
  let nextTableNumber = declaredNumbers.reduce(
    (next, number) => Math.max(next, number + 1),
    previous?.nextTableNumber ?? 1,
  )
  // Dataclasses may have any name: on an object without a prototype, `constructor` is an ordinary one.
  const dataClasses: TableNumbers['dataClasses'] = Object.create(null)
  for (const [name, dataClass] of Object.entries(model.dataClasses)) {
    const old = previousClasses.get(name) ?? previousClasses.get(formerName(dataClass, model.dataClasses) ?? name)
    const path = `dataClasses.${name}.tableNumber`
    const modelNumber = dataClass.tableNumber
    if (old && modelNumber !== undefined && modelNumber !== old.tableNumber) {
      problems.push(
        `${path}: ${modelNumber}, but the store keeps ${name} under ${old.tableNumber}; leave it out or write that`,
      )
    }
    if (!old && modelNumber !== undefined && modelNumber < (previous?.nextTableNumber ?? 1)) {
      problems.push(
        `${path}: ${modelNumber} has been used in the store before; leave it out or write ${nextTableNumber}`,
      )
    }
    const tableNumber = old?.tableNumber ?? modelNumber ?? nextTableNumber++
    const positions = new Map(Object.entries(old?.attributes ?? {}))
    let nextPosition = old?.nextPosition ?? 1
    const attributes: Record<string, number> = Object.create(null)
    for (const [numberedName, former] of numberedNames(dataClass)) {
      attributes[numberedName] = positions.get(numberedName) ?? positions.get(former) ?? nextPosition++
    }
    if (tableNumber > MAX_NUMBER || nextPosition - 1 > MAX_NUMBER) {
      problems.push(`dataClasses.${name}: the store has no number left for it; a new store would`)
    }
    dataClasses[name] = { tableNumber, nextPosition, attributes }
  }
  if (problems.length > 0) throw new ModelError(problems)
  return { nextTableNumber, dataClasses }
}

/** Names of everything that has a position, each with its name in an earlier model. */
function numberedNames({ attributes, unique = [] }: DataClassModel): [name: string, former: string][] {
  const attributeNames = Object.entries(attributes).map(([name, attribute]) => {
    return [name, formerName(attribute, attributes) ?? name, attribute] as const
  })
  const properties = attributeNames.flatMap(([name, former, attribute]) => {
    const propertyEntries = 'properties' in attribute ? Object.entries(attribute.properties ?? {}) : []
    const indexedProperties = propertyEntries.filter(([, property]) => property.indexed)
    return indexedProperties.map(([path]): [string, string] => [`${name}.${path}`, `${former}.${path}`])
  })
  const formerNames = new Map(attributeNames.map(([name, former]) => [name, former]))
  const together = unique.map((names): [string, string] => [
    nameTogether(names),
    nameTogether(names.map(name => formerNames.get(name) ?? name)),
  ])
  return [...attributeNames.map(([name, former]): [string, string] => [name, former]), ...properties, ...together]
}

/** Former name, or undefined if there is none or something else has that name now. */
const formerName = ({ formerName: name }: { formerName?: string }, all: object): string | undefined =>
  name !== undefined && !Object.hasOwn(all, name) ? name : undefined
