/** Name of a relation, derived from its foreign key: `author` from `author_id`, `authorId`, `id_author`. */
export function relationName(column: string): string | undefined {
  return /^(.+?)_?(?:_id|Id|ID|_key|_fk|_uuid|_no|_code)$/.exec(column)?.[1] ?? /^(?:id|fk)_(.+)$/i.exec(column)?.[1]
}

/** Ends of a relation whose reverse needs a name. */
interface Ends {
  /** Dataclass with the foreign key. */
  readonly from: string
  /** Column of the foreign key. */
  readonly column: string
  /** Name of the relation to one entity. */
  readonly relation: string
  /** The table refers to itself. */
  readonly isSelf: boolean
  /** The relation needs no distinction: no other leads to the same table, or it has the name of that table. */
  readonly isMain: boolean
}

/**
 * Name of the reverse of a relation: `films` for a table that is referred to once, otherwise `films_by_original_language`. The reverse of a
 * table's relation to itself has the opposite name if there is one: `children` of `parent`.
 */
export function inverseName({ from, column, relation, isSelf, isMain }: Ends): string {
  const entities = plural(from)
  const opposite = isSelf ? oppositeOf(relationName(column) ?? column) : undefined
  if (opposite !== undefined) return opposite
  if (isMain && !isSelf) return entities
  return isCamelCase(relation) ? `${entities}By${capital(relation)}` : `${entities}_by_${relation}`
}

/** Opposites of names of relations within one table, without their underscores. */
const OPPOSITES: Readonly<Record<string, string>> = {
  ancestor: 'descendants',
  boss: 'subordinates',
  inreplyto: 'replies',
  manager: 'subordinates',
  parent: 'children',
  predecessor: 'successors',
  replyto: 'replies',
  reportsto: 'subordinates',
  supervisor: 'subordinates',
}

/** `children` of `parent`, `child_comments` of `parent_comment`. */
function oppositeOf(relation: string): string | undefined {
  const opposite = OPPOSITES[relation.replaceAll('_', '').toLowerCase()]
  if (opposite !== undefined) return opposite
  const [, start, rest] = /^([Pp]arent)(_?[A-Z_].*)$/.exec(relation) ?? []
  return rest === undefined ? undefined : plural(`${start!.startsWith('P') ? 'Child' : 'child'}${rest}`)
}

const isCamelCase = (name: string): boolean => /[a-z][A-Z]/.test(name)
const capital = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)

/** Returns the plural of a name: `books` for `book` or `books`. */
function plural(name: string): string {
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  if (/(?:[cs]h|x|ss)$/.test(name)) return `${name}es`
  return /s$/i.test(name) ? name : `${name}s`
}
