/** Addresses of entities and entity sets, below `/rest`. */

export const entityPath = (dataClass: string, key: string): string => `${dataClass}(${keyInPath(key)})`

/** Several entities; with one key it is that entity and no collection. */
export const entitiesPath = (dataClass: string, keys: readonly string[]): string =>
  `${dataClass}(${keys.map(keyInPath).join(',')})`

/** `FR`, `%22it%27s%22`: within quotes only delimiters that are not encoded end a key, so all of them are. */
const keyInPath = (key: string): string =>
  /^[\w.-]+$/.test(key)
    ? key
    : `%22${encodeURIComponent(key).replace(/[()']/g, sign => `%${sign.charCodeAt(0).toString(16)}`)}%22`

/** The id may come from a link that others have made: encoded, it leads to no other path. */
export const entitySetPath = (dataClass: string, id: string): string =>
  `${dataClass}/$entityset/${encodeURIComponent(id)}`
