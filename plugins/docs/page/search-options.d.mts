import type { Options } from 'minisearch'

export const SEARCH: Options
