import { change } from '../base/place.ts'

/** Closes the panel. */
export const close = (): void => change({ entity: undefined, trail: undefined, edit: undefined })
