/** Columns of the grid; their form in the address is `name:220,country.name`. */
import { labelOf } from '../base/label.ts'
import { type Attribute, type DataClass, isRelation, isVector, NUMBERS, SCORE, shapeOf } from '../base/model.ts'

export interface Column {
  /** Path of attributes, starting at the dataclass: `country.name`. */
  readonly path: string
  readonly width: number
  /** True if the width was chosen, instead of fitted to the values. */
  readonly isFixed: boolean
  /** Attribute at the end of the path. */
  readonly attribute: Attribute
  /** Dataclass of that attribute. */
  readonly owner: DataClass
  /** Relations before that attribute. */
  readonly relations: readonly Attribute[]
  /** Dataclass to which the attribute leads if it is a relation. */
  readonly target: DataClass | undefined
}

/** Returns the dataclass at the end of a relation, if the user may see it. */
type TargetOf = (relation: Attribute) => DataClass | undefined

const MIN_WIDTH = 40
const MAX_WIDTH = 1_200
/** Maximum number of columns if none are chosen. */
const DEFAULT_COLUMNS = 60
const SCORES: Attribute = { name: SCORE, kind: 'calculated', type: 'number', scale: 4 }

/** Parses the columns in the address; those that the user may not see are left out. */
export function parseColumns(text: string, dataClass: DataClass, targetOf: TargetOf): readonly Column[] {
  const columns = text.split(',').flatMap(each => {
    const [path = '', width] = each.split(':')
    return columnOf(path, dataClass, targetOf, Number(width) || undefined) ?? []
  })
  const seenPaths = new Set<string>()
  return columns.filter(({ path }) => !seenPaths.has(path) && seenPaths.add(path))
}

/** Text of the columns for the address, with the widths that were chosen. */
export const formatColumns = (columns: readonly Column[]): string =>
  columns.map(({ path, width, isFixed }) => (isFixed ? `${path}:${width}` : path)).join(',')

export function columnOf(path: string, dataClass: DataClass, targetOf: TargetOf, width?: number): Column | undefined {
  const relations: Attribute[] = []
  let owner = dataClass
  const names = path.split('.')
  const last = names.pop()!
  for (const name of names) {
    const relation = attributeNamed(owner, name)
    const target = relation && isRelation(relation) ? targetOf(relation) : undefined
    if (!target) return undefined
    relations.push(relation!)
    owner = target
  }
  const attribute = attributeNamed(owner, last) ?? (path === SCORE ? SCORES : undefined)
  if (!attribute) return undefined
  const target = isRelation(attribute) ? targetOf(attribute) : undefined
  if (isRelation(attribute) && !target) return undefined
  const isFixed = width !== undefined
  return {
    path,
    width: isFixed ? clampWidth(width) : defaultWidth(attribute, path),
    isFixed,
    attribute,
    owner,
    relations,
    target,
  }
}

const attributeNamed = (dataClass: DataClass, name: string): Attribute | undefined =>
  dataClass.attributes.find(each => each.name === name)

/**
 * Default columns of a dataclass: key and label, then the other attributes, without foreign keys of shown relations and without
 * aliases of values that their labels already show.
 */
export function defaultColumns(dataClass: DataClass, targetOf: TargetOf): readonly Column[] {
  const { attributes } = dataClass
  const relations = attributes.filter(each => each.kind === 'relatedEntity' && targetOf(each))
  const shownAlready = new Set(
    relations.flatMap(relation => [relation.foreignKey, `${relation.name}.${labelOf(targetOf(relation)!).name}`]),
  )
  const first = [dataClass.key[0]?.name, labelOf(dataClass).name]
  const rank = ({ name }: Attribute): number => (first.indexOf(name) + first.length + 1) % (first.length + 1)
  return attributes
    .toSorted((a, b) => rank(a) - rank(b))
    .filter(({ name, identifying }) => identifying || !shownAlready.has(name))
    .filter(({ path, kind }) => kind !== 'alias' || !shownAlready.has(path))
    .slice(0, DEFAULT_COLUMNS)
    .flatMap(({ name }) => columnOf(name, dataClass, targetOf) ?? [])
}

export const clampWidth = (width: number): number => Math.min(Math.max(MIN_WIDTH, Math.round(width)), MAX_WIDTH)

/** Width of a column until there are values. */
const defaultWidth = (attribute: Attribute, path: string): number =>
  Math.max(headerWidth(path), fixedWidth(attribute) ?? 120)

/** Width of the name with its arrow, up to a limit. */
export const headerWidth = (path: string): number => Math.min(220, 8 * path.length + 40)

/** Length of the values that fit into the column: most texts, and every number, since a cut number looks like a different one. */
export function fittedLength(lengths: readonly number[], attribute: Attribute): number {
  const sortedLengths = lengths.toSorted((a, b) => a - b)
  return sortedLengths[isNumeric(attribute) ? sortedLengths.length - 1 : Math.floor(sortedLengths.length * 0.95)] ?? 0
}

/** Fixed width of values that are not texts. */
export function fixedWidth(attribute: Attribute): number | undefined {
  if (attribute.kind === 'relatedEntities') return 72
  if (attribute.kind === 'relatedEntity') return undefined
  const widths: Record<string, number> = { bool: 64, image: 72, blob: 72, vector: 160 }
  return widths[shapeOf(attribute)]
}

/** Returns true if the values are numbers, which are right-aligned. */
export const isNumeric = (attribute: Attribute): boolean =>
  !isRelation(attribute) &&
  !isVector(attribute) &&
  (NUMBERS.has(attribute.type) || attribute.type === 'duration' || attribute.scale !== undefined)

/** Path by which the column is ordered; undefined if it cannot be. */
export function orderPath({ path, attribute, relations, target }: Column): string | undefined {
  if (relations.some(each => each.kind === 'relatedEntities') || path === SCORE) return undefined
  if (attribute.kind === 'relatedEntity') return `${path}.${labelOf(target!).name}`
  if (attribute.kind === 'relatedEntities') return undefined
  return ['object', 'image', 'blob'].includes(attribute.type) ? undefined : path
}

/** Parameters of requests for the values of columns. */
export function askedFor(
  columns: readonly Column[],
  key: string,
): { $attributes: string; $expand: string | undefined } {
  const attributes = columns.map(({ path, attribute, target }) =>
    isRelation(attribute) ? `${path}.${labelOf(target!).name}` : path,
  )
  /** Expanded 1→N relations, with their ranges: empty if only the number is shown, otherwise the first members. */
  const expanded = new Map<string, string>()
  for (const { path, attribute, relations } of columns) {
    const names = path.split('.')
    for (const [at, relation] of relations.entries())
      if (relation.kind === 'relatedEntities') expanded.set(names.slice(0, at + 1).join('.'), `:${LISTED}`)
    if (attribute.kind === 'relatedEntities' && !expanded.has(path)) expanded.set(path, ':0-0')
  }
  const expand = [...expanded].map(([path, range]) => `${path}${range}`).join(',')
  return { $attributes: attributes.length > 0 ? attributes.join(',') : key, $expand: expand || undefined }
}

/** Number of members of a 1→N relation whose values are shown. */
export const LISTED = 3

type Json = Readonly<Record<string, unknown>>

/** Values of an entity at the path of a column: one value, or several after a 1→N relation. */
export const valuesAt = (entity: Json, path: string): readonly unknown[] =>
  path
    .split('.')
    .reduce<readonly unknown[]>(
      (values, name) =>
        values.flatMap(value => (membersOf(value) ?? [value]).map(each => (each as Json | null | undefined)?.[name])),
      [entity],
    )

/** Entities in the answer for a 1→N relation. */
const membersOf = (value: unknown): readonly Json[] | undefined =>
  (value as { __ENTITIES?: readonly Json[] } | null)?.__ENTITIES
