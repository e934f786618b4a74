/** A path for the log: the id of an entity set opens it, also for others. */
export const shownPath = (path: string): string => path.replace(/((?:\$|%24)entityset\/)[^/?]+/i, '$1…')
