import type { ForeignFormat } from '../../engine/import/foreign-values.ts'
import type { RelationsBy } from '../../engine/import/relation-lookup.ts'

interface Given extends ForeignFormat {
  readonly into: string
  readonly relations?: RelationsBy | undefined
  /** Further options, with their values. */
  readonly more?: readonly string[]
}

/**
 * Command that loads a file of errors once it is corrected. Its rows have the names of attributes, and texts as the first file writes
 * them.
 */
export function correctedCommand(
  command: 'load' | 'import',
  file: string,
  { into, relations = {}, decimal, dates, nulls, more = [] }: Given,
): string {
  const words = ['npx', 'tesser', command, file, '--into', into]
  for (const [relation, by] of Object.entries(relations)) words.push('--relation', `${relation}=${by}`)
  if (decimal) words.push('--decimal', decimal)
  if (dates) words.push('--dates', dates)
  if (nulls && nulls.length > 0) words.push('--nulls', nulls.join(','))
  return [...words, ...more].map(quoted).join(' ')
}

/** A word as a POSIX shell takes it. */
const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
