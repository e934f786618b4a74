/** Columns of the grid: in the address as `name:220,country.name`. */
import { labelOf } from '../base/label.ts'
import { type Attribute, type DataClass, isRelation, isVector, SCORE, shapeOf } from '../base/model.ts'

export interface Column {
  /** Attributes from the dataclass on: `country.name`. */
  readonly path: string
  readonly width: number
  /** The width was chosen, and is not that of the values. */
  readonly isFixed: boolean
  /** The attribute at its end. */
  readonly attribute: Attribute
  /** Dataclass of that attribute. */
  readonly owner: DataClass
  /** Attributes before it. */
  readonly relations: readonly Attribute[]
  /** Dataclass at the end of a relation. */
  readonly target: DataClass | undefined
}

/** Gives the dataclass at the end of a relation, if the user may see it. */
type TargetOf = (relation: Attribute) => DataClass | undefined

const MIN_WIDTH = 40
const MAX_WIDTH = 1_200
/** Columns of a dataclass for which none are chosen. */
const DEFAULT_COLUMNS = 60
const SCORES: Attribute = { name: SCORE, kind: 'calculated', type: 'number', scale: 4 }

/** Columns of the text in the address; those that the user may not see are left out. */
export function parseColumns(text: string, dataClass: DataClass, targetOf: TargetOf): readonly Column[] {
  const columns = text.split(',').flatMap(each => {
    const [path = '', width] = each.split(':')
    return columnOf(path, dataClass, targetOf, Number(width) || undefined) ?? []
  })
  const seen = new Set<string>()
  return columns.filter(({ path }) => !seen.has(path) && seen.add(path))
}

/** Widths are in the text where they were chosen. */
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
 * Columns of a dataclass for which none are chosen: key and label, then its other attributes, without foreign keys of relations
 * that are shown and without aliases of what their labels say.
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

/** Until there are values. */
const defaultWidth = (attribute: Attribute, path: string): number =>
  Math.max(headerWidth(path), fixedWidth(attribute) ?? 120)

/** The name with its arrow, as far as it is not very long. */
export const headerWidth = (path: string): number => Math.min(220, 8 * path.length + 40)

/** Length of the values for which there is room: most texts, and every number, since one that is cut looks like another. */
export function fittedLength(lengths: readonly number[], attribute: Attribute): number {
  const sorted = lengths.toSorted((a, b) => a - b)
  return sorted[isNumeric(attribute) ? sorted.length - 1 : Math.floor(sorted.length * 0.95)] ?? 0
}

/** Width of values that are not texts. */
export function fixedWidth(attribute: Attribute): number | undefined {
  if (attribute.kind === 'relatedEntities') return 72
  if (attribute.kind === 'relatedEntity') return undefined
  const widths: Record<string, number> = { bool: 64, image: 72, blob: 72, vector: 160 }
  return widths[shapeOf(attribute)]
}

/** Whether its values are numbers, which stand at the right. */
export const isNumeric = (attribute: Attribute): boolean =>
  !isRelation(attribute) &&
  !isVector(attribute) &&
  (['long', 'long64', 'byte', 'word', 'number', 'float', 'duration'].includes(attribute.type) ||
    attribute.scale !== undefined)

/** Path by which the column is ordered; undefined where it cannot be. */
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
  /** Members of relations to many: none where only their number is shown, otherwise the first ones. */
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

/** Members of a relation to many of which values are shown. */
export const LISTED = 3

type Json = Readonly<Record<string, unknown>>

/** Values of an entity at the path of a column: one, or several behind a relation to many. */
export const valuesAt = (entity: Json, path: string): readonly unknown[] =>
  path
    .split('.')
    .reduce<readonly unknown[]>(
      (values, name) =>
        values.flatMap(value => (membersOf(value) ?? [value]).map(each => (each as Json | null | undefined)?.[name])),
      [entity],
    )

/** Entities in the answer for a relation to many. */
const membersOf = (value: unknown): readonly Json[] | undefined =>
  (value as { __ENTITIES?: readonly Json[] } | null)?.__ENTITIES
