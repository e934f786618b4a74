/** Filters that the user has named, in this browser. */
import { remembered } from '../base/remembered.ts'

export interface SavedFilter {
  readonly name: string
  readonly filter: string
  readonly order: string
}

/** By dataclass. */
export const saved = remembered<Readonly<Record<string, readonly SavedFilter[]>>>('find.saved', {})

/** Saves a filter; one of the same name is replaced. */
export function save(dataClass: string, filter: SavedFilter): void {
  const others = withoutName(dataClass, filter.name)
  const all = [...others, filter].sort((one, other) => one.name.localeCompare(other.name))
  saved.value = { ...saved.value, [dataClass]: all }
}

export const forget = (dataClass: string, name: string): void => {
  saved.value = { ...saved.value, [dataClass]: withoutName(dataClass, name) }
}

const withoutName = (dataClass: string, name: string): readonly SavedFilter[] =>
  (saved.value[dataClass] ?? []).filter(each => each.name !== name)
