/** A path for the log, without ids of entity sets, which give access to them. */
export const shownPath = (path: string): string => path.replace(/((?:\$|%24)entityset\/)[^/?]+/i, '$1…')
