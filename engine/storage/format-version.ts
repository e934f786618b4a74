/** Raised when what is stored can no longer be read by older code. */
export const FORMAT_VERSION = 4
/** Oldest format that this code reads; a start raises it. Format 4 has digests of files, and the list of those to be removed. */
export const OLDEST_FORMAT = 3
