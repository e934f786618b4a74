import { suggestion } from '../base/suggestion.ts'
import { ModelError } from './model-error.ts'
import type { DataClassModel } from './model-schema.ts'
import type { Place } from './place.ts'

/** Dataclasses with the place of their entities. */
interface PlacedClasses {
  readonly dataClasses: readonly string[]
  readonly place: Place
}

/**
 * Adds places outside of the store and databases to a model. Other faults of the model are not checked here.
 * @throws {ModelError} there is no such dataclass, or its entities have another place
 */
export function addPlaces(model: unknown, placed: readonly PlacedClasses[]): unknown {
  if (placed.length === 0) return model
  const problems: string[] = []
  const before = (model as { dataClasses: Record<string, DataClassModel> }).dataClasses
  const dataClasses = { ...before }
  for (const { dataClasses: names, place } of placed) {
    for (const name of names) {
      const path = `dataClasses.${name}`
      const dataClass = Object.hasOwn(dataClasses, name) ? dataClasses[name] : undefined
      if (!dataClass) problems.push(`${path}: there is no such dataclass${suggestion(name, Object.keys(before))}`)
      else if (dataClass.storage) problems.push(`${path}.storage: its entities are in a back end that is given`)
      else if (dataClass.place) problems.push(`${path}: its entities are in two back ends that are given`)
      else dataClasses[name] = { ...dataClass, place }
    }
  }
  if (problems.length > 0) throw new ModelError(problems)
  return { ...(model as object), dataClasses }
}
