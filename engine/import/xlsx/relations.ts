import { type Archive, relationsPart } from './archive.ts'
import { attribute, children, rootOf } from './xml-elements.ts'

export interface Relation {
  readonly id: string
  /** Last part of its address, which is the same in both variants of the format. */
  readonly type: string
  readonly part: string
  /** As written in the file: outside of it, the address. */
  readonly target: string
}

/** Parts to which a part refers or, with an empty name, to which the whole file refers. Source: ECMA-376, part 2, 6.5. */
export async function relationsOf(archive: Archive, part: string): Promise<Relation[]> {
  const relations = await rootOf(archive, relationsPart(part))
  return children(relations, 'Relationship').map(relation => {
    const target = attribute(relation, 'Target') ?? ''
    const isOutside = attribute(relation, 'TargetMode') === 'External'
    return {
      id: attribute(relation, 'Id') ?? '',
      type: attribute(relation, 'Type')?.split('/').at(-1) ?? '',
      part: isOutside ? '' : new URL(target, `file:///${part}`).pathname.slice(1),
      target,
    }
  })
}
