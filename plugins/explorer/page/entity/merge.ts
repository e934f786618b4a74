/** Three versions of an entity: as it was read, as changed by this user, and as saved by others since. */
import type { Input } from './editor.ts'

export type Side = 'mine' | 'theirs'

interface MergeRow {
  readonly name: string
  readonly base: Input
  readonly mine: Input
  readonly theirs: Input
  /** True if both sides have changed the attribute, to different values: the user chooses. */
  readonly isConflict: boolean
  /** The side that has changed the attribute; in a conflict, the default choice. */
  readonly from: Side
}

/**
 * The attributes that one or both sides have changed.
 * @param mine inputs that the user has changed
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

interface FileRow<File> {
  readonly name: string
  readonly mine: File | null
  /** Address of the currently stored file. */
  readonly theirs: string | undefined
  readonly isConflict: boolean
  readonly from: Side
}

/**
 * Images and blobs that the user has changed. The previous content cannot be read, nor whether others have replaced it: the user chooses,
 * unless the attribute was empty and still is.
 */
export function fileRows<File>(
  mine: ReadonlyMap<string, File | null>,
  base: (name: string) => string | undefined,
  theirs: (name: string) => string | undefined,
): readonly FileRow<File>[] {
  return [...mine].flatMap(([name, file]): FileRow<File>[] => {
    const their = theirs(name)
    const isConflict = their !== undefined || base(name) !== undefined
    return file === null && their === undefined ? [] : [{ name, mine: file, theirs: their, isConflict, from: 'mine' }]
  })
}

/** The user's changes relative to the entity as others have saved it. */
export function changesAfter<Value>(
  rows: readonly { readonly name: string; readonly mine: Value; readonly from: Side }[],
  choices: ReadonlyMap<string, Side>,
): ReadonlyMap<string, Value> {
  return new Map(
    rows.flatMap(({ name, mine, from }) => ((choices.get(name) ?? from) === 'mine' ? [[name, mine] as const] : [])),
  )
}
