/** Three versions of an entity: as it was read, as the user wants it, and as others have saved it since. */
import type { Input } from './editor.ts'

interface MergeRow {
  readonly name: string
  readonly base: Input
  readonly mine: Input
  readonly theirs: Input
  /** Both sides have changed it, to different values: the user chooses. */
  readonly isConflict: boolean
  /** The side that has changed it; of a conflict the one that is taken unless the user chooses. */
  readonly from: 'mine' | 'theirs'
}

/**
 * The attributes that one side or both have changed.
 * @param mine those that the user has changed
 */
export function mergeRows(
  names: readonly string[],
  base: (name: string) => Input,
  mine: ReadonlyMap<string, Input>,
  theirs: (name: string) => Input,
): readonly MergeRow[] {
  return names.flatMap(name => {
    const before = base(name)
    const their = theirs(name)
    const my = mine.get(name) ?? (mine.has(name) ? null : before)
    const isTheirs = their !== before
    const isMine = my !== before && my !== their
    if (!isTheirs && !isMine) return []
    const isConflict = isTheirs && isMine
    return [{ name, base: before, mine: my, theirs: their, isConflict, from: isMine ? 'mine' : 'theirs' }]
  })
}

/** The user's changes of the entity as others have saved it. */
export function changesAfter(
  rows: readonly MergeRow[],
  choices: ReadonlyMap<string, 'mine' | 'theirs'>,
): ReadonlyMap<string, Input> {
  return new Map(
    rows.flatMap(({ name, mine, from }) => ((choices.get(name) ?? from) === 'mine' ? [[name, mine] as const] : [])),
  )
}
