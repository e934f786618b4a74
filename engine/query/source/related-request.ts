import type { View } from '../../catalog/view.ts'
import { relationsOf } from '../execute/open-source.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import type { ReadRequest } from '../contract/request.ts'

/**
 * Filter, order or page of `Class(key)/relation?$expand=relation`, which apply to the entities at the end of the relation to many. The
 * answer is still the entity, with only that relation.
 * @returns a function that creates the request for the related entities from a key; undefined for any other request Source: base
 * specification, 4.2; protocol notes, 4.1.
 */
export function relatedRequest(request: ReadRequest, view: View): ((key: string) => ReadRequest) | undefined {
  const { output, filter, orderBy, top, skip, dataClass } = request
  const { attributes, expand } = output
  if (output.form !== 'entity' || attributes?.from !== 'path' || !expand) return undefined
  const relation = soleName(attributes.items)
  const expansion = expand.find(({ path }) => path[0] === relation)
  if (relation === undefined || !expansion) return undefined
  const isPaged = filter !== undefined || orderBy !== undefined || top !== undefined || skip > 0
  if (!isPaged || !leadsToMany(relation, dataClass, view)) return undefined
  const range = expansion.path.length === 1 ? expansion.range : undefined
  return key => ({
    ...request,
    source: { kind: 'related', from: { dataClass, key }, relation },
    top: top ?? range?.count,
    skip: skip || (range?.skip ?? 0),
    output: { form: 'collection' },
  })
}

/** The attribute with which all paths begin, if it is the same. */
function soleName(items: readonly PathListItem[]): string | undefined {
  const name = items[0]?.path[0]
  return items.every(({ path }) => path[0] === name) ? name : undefined
}

function leadsToMany(name: string, dataClass: string, view: View): boolean {
  const owner = view.dataClass(dataClass)
  const attribute = view.attribute(owner, name)
  const end = attribute?.kind === 'alias' ? attribute.target : attribute
  if (end?.kind !== 'relatedEntity' && end?.kind !== 'relatedEntities') return false
  return relationsOf(name, owner, view).some(({ kind }) => kind === 'relatedEntities')
}
