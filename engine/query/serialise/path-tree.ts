import type { PathListItem } from '../parse/parse-path-list.ts'
import { SerialiseErrors } from '../../answer/serialise-errors.ts'

/**
 * The paths of a list, grouped by common beginnings: `name,employer.name,employer.city` is `{name, employer: {name, city}}`.
 * Names are as received, in the order of their first occurrence; a wildcard is a member like any other.
 */
export interface PathTree {
  readonly members: ReadonlyMap<string, PathTree>
  /** True when a path ends here: in `employer,employer.name` both do. */
  readonly ends: boolean
  /** Range of a path such as `staff:10-20`. */
  readonly range: PathListItem['range']
}

interface Draft extends PathTree {
  members: Map<string, Draft>
  ends: boolean
  range: PathListItem['range']
}

const draft = (): Draft => ({ members: new Map(), ends: false, range: undefined })

/** Maximum depth, since the tree is walked recursively. */
const MAX_STEPS = 100

/** @throws {SerialiseErrors.PATH_TOO_LONG} */
export function pathTree(items: readonly PathListItem[]): PathTree {
  const root = draft()
  for (const { path, range } of items) {
    if (path.length > MAX_STEPS) throw SerialiseErrors.PATH_TOO_LONG(path.length, MAX_STEPS)
    let node = root
    for (const name of path) {
      const member = node.members.get(name) ?? draft()
      node.members.set(name, member)
      node = member
    }
    node.ends = true
    node.range = range ?? node.range
  }
  return root
}

export const pathText = (items: readonly PathListItem[] = []): string =>
  items.map(({ path }) => path.join('.')).join(',')
