import { ModelError } from './model-error.ts'
import type { DataClassModel, Model } from './model-schema.ts'

/**
 * Numbers under which the store keeps dataclasses and attributes. They stay when the model changes, and those of what
 * has been removed are never given again, so that nothing old can be read as something new. What has been renamed, and says so
 * by `formerName`, keeps its number, and with it all that is stored. Plain data, kept in the store.
 */
export interface TableNumbers {
  /** No dataclass has ever had this number or a greater one. */
  nextTableNumber: number
  dataClasses: Record<string, TableNumbersOfDataClass>
}

interface TableNumbersOfDataClass {
  tableNumber: number
  /** No attribute of it has ever had this position or a greater one. */
  nextPosition: number
  /** Position of each attribute, from 1, and of each indexed property: `info.address.city`. */
  attributes: Record<string, number>
}

/** Keys of the store hold both numbers in 16 bits. */
const MAX_NUMBER = 0xffff

/**
 * Numbers for a model: those of `previous` for what it knows, `tableNumber` where the model says it, new ones otherwise.
 * @throws {ModelError} when a `tableNumber` of the model contradicts `previous`, or the numbers are used up
 */
export function assignNumbers(model: Model, previous?: TableNumbers): TableNumbers {
  const problems: string[] = []
  const known = new Map(Object.entries(previous?.dataClasses ?? {}))
  const declared = Object.values(model.dataClasses).flatMap(({ tableNumber }) => tableNumber ?? [])
  // New numbers start above all that are or were in use and above those that the model names itself.
  let nextTableNumber = declared.reduce((next, number) => Math.max(next, number + 1), previous?.nextTableNumber ?? 1)
  // Names come from the model's author: an object without prototype has no `constructor` of its own.
  const dataClasses: TableNumbers['dataClasses'] = Object.create(null)
  for (const [name, dataClass] of Object.entries(model.dataClasses)) {
    const old = known.get(name) ?? known.get(formerName(dataClass, model.dataClasses) ?? name)
    const path = `dataClasses.${name}.tableNumber`
    const wanted = dataClass.tableNumber
    if (old && wanted !== undefined && wanted !== old.tableNumber) {
      problems.push(
        `${path}: ${wanted}, but the store keeps ${name} under ${old.tableNumber}; leave it out or write that`,
      )
    }
    if (!old && wanted !== undefined && wanted < (previous?.nextTableNumber ?? 1)) {
      problems.push(`${path}: ${wanted} has been used in the store before; leave it out or write ${nextTableNumber}`)
    }
    const tableNumber = old?.tableNumber ?? wanted ?? nextTableNumber++
    const positions = new Map(Object.entries(old?.attributes ?? {}))
    let nextPosition = old?.nextPosition ?? 1
    const attributes: Record<string, number> = Object.create(null)
    for (const [numbered, former] of numberedNames(dataClass)) {
      attributes[numbered] = positions.get(numbered) ?? positions.get(former) ?? nextPosition++
    }
    if (tableNumber > MAX_NUMBER || nextPosition - 1 > MAX_NUMBER) {
      problems.push(`dataClasses.${name}: the store has no number left for it; a new store would`)
    }
    dataClasses[name] = { tableNumber, nextPosition, attributes }
  }
  if (problems.length > 0) throw new ModelError(problems)
  return { nextTableNumber, dataClasses }
}

/** Names of what has a number, each with the one that it had in an earlier model. */
function numberedNames({ attributes }: DataClassModel): [name: string, former: string][] {
  const own = Object.entries(attributes).map(([name, attribute]) => {
    return [name, formerName(attribute, attributes) ?? name, attribute] as const
  })
  const properties = own.flatMap(([name, former, attribute]) => {
    const declared = 'properties' in attribute ? Object.entries(attribute.properties ?? {}) : []
    const indexed = declared.filter(([, property]) => property.indexed)
    return indexed.map(([path]): [string, string] => [`${name}.${path}`, `${former}.${path}`])
  })
  return [...own.map(([name, former]): [string, string] => [name, former]), ...properties]
}

/** Undefined as well when the name has been given to something else. */
const formerName = ({ formerName: name }: { formerName?: string }, all: object): string | undefined =>
  name !== undefined && !Object.hasOwn(all, name) ? name : undefined
