/** Current format. It is raised when older code can no longer read stored data. */
export const FORMAT_VERSION = 4
/**
 * Oldest format that this code reads; a start upgrades it. Format 4 has digests of files, and the list of files to be removed.
 */
export const OLDEST_FORMAT = 3
