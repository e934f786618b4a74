/** Addresses of entities and entity sets, below `/rest`. */

export const entityPath = (dataClass: string, key: string): string => `${dataClass}(${keyInPath(key)})`

/** Path of several entities; with one key the answer is that entity, not a collection. */
export const entitiesPath = (dataClass: string, keys: readonly string[]): string =>
  `${dataClass}(${keys.map(keyInPath).join(',')})`

/** A key in a path: `FR`, `%22it%27s%22`. Within quotes only unencoded delimiters end a key, so all of them are encoded. */
const keyInPath = (key: string): string =>
  /^[\w.-]+$/.test(key)
    ? key
    : `%22${encodeURIComponent(key).replace(/[()']/g, sign => `%${sign.charCodeAt(0).toString(16)}`)}%22`

/** Path of an entity set. The id may come from a foreign link: encoded, it cannot lead to another path. */
export const entitySetPath = (dataClass: string, id: string): string =>
  `${dataClass}/$entityset/${encodeURIComponent(id)}`
