/** The text of `$orderby`, as the headers of columns show and change it. */

interface OrderTerm {
  readonly path: string
  readonly isDescending: boolean
}

/** Terms of the text; terms other than a path with a direction are left out. */
export function parseOrder(text: string): readonly OrderTerm[] {
  return text
    .split(',')
    .map(term => /^\s*"?([^\s"]+)"?(?:\s+(asc|desc))?\s*$/i.exec(term))
    .flatMap(match => (match ? [{ path: match[1]!, isDescending: match[2]?.toLowerCase() === 'desc' }] : []))
}

export const formatOrder = (terms: readonly OrderTerm[]): string =>
  terms.map(({ path, isDescending }) => (isDescending ? `${path} desc` : path)).join(', ')

/**
 * The order after a column was chosen, in the sequence ascending, descending, unordered.
 * @param isAdded adds a term instead of replacing all terms
 */
export function orderBy(terms: readonly OrderTerm[], path: string, isAdded: boolean): readonly OrderTerm[] {
  const at = terms.findIndex(term => term.path === path)
  const before = terms[at]
  const next =
    before === undefined ? [{ path, isDescending: false }] : before.isDescending ? [] : [{ path, isDescending: true }]
  if (!isAdded) return next
  return at < 0 ? [...terms, ...next] : terms.toSpliced(at, 1, ...next)
}
