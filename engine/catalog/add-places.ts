import { isJsonObject as isObject } from '../base/json-object.ts'
import { suggestion } from '../base/suggestion.ts'
import { ModelError } from './model-error.ts'
import type { Place } from './place.ts'

/** Dataclasses with the place of their entities. */
interface PlacedClasses {
  readonly dataClasses: readonly string[]
  readonly place: Place
}

/**
 * Adds places outside of the store and databases to a model. Other faults of the model are not checked here.
 * @throws {ModelError} there is no such dataclass, or its entities have another place; the file itself names a place
 */
export function addPlaces(model: unknown, placedClasses: readonly PlacedClasses[]): unknown {
  if (!isObject(model) || !isObject(model.dataClasses)) return model
  const dataClasses = { ...model.dataClasses }
  const problems = Object.entries(dataClasses).flatMap(([name, each]) =>
    isObject(each) && Object.hasOwn(each, 'place')
      ? [`dataClasses.${name}.place: the server sets it; remove it from the file`]
      : [],
  )
  const placedNames = new Set<string>()
  for (const { dataClasses: names, place } of placedClasses) {
    if (names.length === 0) problems.push('a back end is given without dataclasses')
    for (const name of names) {
      const path = `dataClasses.${name}`
      const dataClass = Object.hasOwn(dataClasses, name) ? dataClasses[name] : undefined
      if (!isObject(dataClass))
        problems.push(`${path}: there is no such dataclass${suggestion(name, Object.keys(dataClasses))}`)
      else if (dataClass.storage)
        problems.push(`${path}.storage: remove it; the program has a back end for its entities`)
      else if (placedNames.has(name))
        problems.push(`${path}: two back ends have its entities; leave it out of one of them`)
      else dataClasses[name] = { ...dataClass, place }
      placedNames.add(name)
    }
  }
  if (problems.length > 0) throw new ModelError(problems)
  return placedClasses.length > 0 ? { ...model, dataClasses } : model
}
