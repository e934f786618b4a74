/** Element from which the keyboard opened the entity panel: the focus moves into the panel, and returns when it is closed. */
import { signal } from '@preact/signals'

export const opener = signal<HTMLElement | undefined>(undefined)
