/** Writes of this page, for views that show the changed data. */
import { signal } from '@preact/signals'

interface Write {
  readonly dataClass: string
}

/** The last write. Every write creates a new object, even to the same dataclass. */
export const lastWrite = signal<Write | undefined>(undefined)

/** Called after entities of a dataclass have been created, changed or deleted. */
export const hasWritten = (dataClass: string): void => {
  lastWrite.value = { dataClass }
}
