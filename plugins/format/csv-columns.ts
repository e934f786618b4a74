import type { Attribute, DataClass, PathListItem, View } from '../../engine/index.ts'

/** Paths of the columns: the paths of the list, with each `*` expanded to the attributes that it stands for. */
export function columnsOf(
  dataClass: DataClass,
  items: readonly PathListItem[] | undefined,
  view: View,
): readonly (readonly string[])[] {
  const paths = items?.map(({ path }) => path) ?? [['*']]
  const columns = paths.flatMap(path => {
    if (path.at(-1) !== '*') return [path]
    const way = path.slice(0, -1)
    const owner = ownerAt(dataClass, way, view)
    return owner ? valuesOf(owner, view).map(name => [...way, name]) : [path]
  })
  return [...new Map(columns.map(path => [path.join('.'), path])).values()]
}

/** Dataclass at the end of a path over relations; undefined for any other path, with which the list is refused. */
function ownerAt(dataClass: DataClass, way: readonly string[], view: View): DataClass | undefined {
  let owner: DataClass | undefined = dataClass
  for (const name of way) {
    const attribute: Attribute | undefined = owner && view.attribute(owner, name)
    owner = attribute && 'target' in attribute && attribute.kind !== 'alias' ? attribute.target : undefined
  }
  return owner
}

/** Names of the attributes whose values a file can contain. */
const valuesOf = (dataClass: DataClass, view: View): string[] =>
  view
    .attributes(dataClass)
    .filter(hasValue)
    .map(({ name }) => name)

function hasValue(attribute: Attribute): boolean {
  if (attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities') return false
  if (attribute.kind === 'alias')
    return attribute.relations.every(({ kind }) => kind === 'relatedEntity') && hasValue(attribute.target)
  return attribute.type !== 'image' && attribute.type !== 'blob'
}
