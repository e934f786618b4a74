/** Filters that the user has named, in this browser. */
import { computed } from '@preact/signals'
import { storedSignal } from '../base/remembered.ts'
import { user } from '../base/session.ts'

interface SavedFilter {
  readonly name: string
  readonly filter: string
  readonly order: string
}

type ByClass = Readonly<Record<string, readonly SavedFilter[]>>

/** Saved filters by user name: they outlive a logout, and are not shown to other users. */
const all = storedSignal<Readonly<Record<string, ByClass>>>('find.savedBy', {})
const owner = (): string => user.value?.userName ?? ''

/** Saved filters of the user, by dataclass. */
export const savedFilters = computed<ByClass>(() => all.value[owner()] ?? {})

const set = (dataClass: string, filters: readonly SavedFilter[]): void => {
  all.value = { ...all.value, [owner()]: { ...savedFilters.value, [dataClass]: filters } }
}

/** Saves a filter, replacing one of the same name. */
export const save = (dataClass: string, filter: SavedFilter): void =>
  set(
    dataClass,
    [...withoutName(dataClass, filter.name), filter].sort((one, other) => one.name.localeCompare(other.name)),
  )

export const forget = (dataClass: string, name: string): void => set(dataClass, withoutName(dataClass, name))

const withoutName = (dataClass: string, name: string): readonly SavedFilter[] =>
  (savedFilters.value[dataClass] ?? []).filter(each => each.name !== name)

export const inOneText = ({ filter, order }: SavedFilter): string => (order ? `${filter} order by ${order}` : filter)
