import type { StoredBinary } from '../../engine/index.ts'

/** @param variant what distinguishes this form of the value from others; empty for the stored bytes */
export const entityTag = ({ version }: StoredBinary, variant: string): string =>
  `"${version}${variant && `-${variant}`}"`

/**
 * A year for the version that the address names, else a question each time. Private: not everybody may see all data.
 * @param version `$version` of the request
 */
export const cacheControl = ({ stamp }: StoredBinary, version: string | undefined): string =>
  version === String(stamp) ? 'private, max-age=31536000, immutable' : 'private, no-cache'
