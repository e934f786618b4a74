import type { StoredBinary } from '../../engine/index.ts'

/**
 * Tag of a value, by the version of its entity. A digest of the bytes would have to read all of them.
 * @param variant distinguishes a converted form of the value from others; empty for the stored bytes
 */
export const entityTag = ({ version }: StoredBinary, variant: string): string =>
  `"${version}${variant && `-${variant}`}"`

/**
 * Cached for a year if the address names the version, else revalidated each time. Private: not every caller may see all data.
 * @param version `$version` of the request
 */
export const cacheControl = ({ stamp }: StoredBinary, version: string | undefined): string =>
  version === String(stamp) ? 'private, max-age=31536000, immutable' : 'private, no-cache'
