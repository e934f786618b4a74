/** Entities of the selection that the user has chosen in the grid, for deletion, export or comparison. */
import { signal } from '@preact/signals'

export interface Chosen {
  /** True if all entities of the selection except `keys` are chosen; otherwise only `keys` are. */
  readonly isAll: boolean
  readonly keys: ReadonlySet<string>
}

export const NONE_CHOSEN: Chosen = { isAll: false, keys: new Set() }

/** The chosen entities; reset when another selection is shown. */
export const choice = signal<Chosen>(NONE_CHOSEN)

/** The entity set from which the grid shows the selection, and its size. Undefined until it is created. */
export const shownSet = signal<{ readonly dataClass: string; readonly id: string; readonly count: number } | undefined>(
  undefined,
)

export const isChosen = ({ isAll, keys }: Chosen, key: string): boolean => keys.has(key) !== isAll
export const countChosen = ({ isAll, keys }: Chosen, count: number): number => (isAll ? count - keys.size : keys.size)

export function toggleKey({ isAll, keys }: Chosen, key: string): Chosen {
  const newKeys = new Set(keys)
  if (!newKeys.delete(key)) newKeys.add(key)
  return { isAll, keys: newKeys }
}
