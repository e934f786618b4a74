/** The element from which keys have opened the panel of an entity: the focus goes into the panel, and comes back when it is closed. */
import { signal } from '@preact/signals'

export const opener = signal<HTMLElement | undefined>(undefined)
