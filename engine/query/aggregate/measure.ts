import {
  isRelation,
  type RelatedEntityAttribute,
  type RelationAttribute,
  type ValueAttribute,
} from '../../catalog/attribute.ts'
import type { AggregateKind, ScalarDescriptor } from '../../catalog/types/descriptor.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import { isScalarType } from '../../catalog/value-type.ts'
import type { View } from '../../catalog/view.ts'
import { ProtocolError } from '../../base/errors.ts'
import { bindComparison } from '../bind/bind-comparison.ts'
import { joinConditions } from '../bind/join-conditions.ts'
import { combine, type Predicate } from '../bind/predicate.ts'
import { type ResolvedPath, resolvePath } from '../bind/resolve-path.ts'
import { ParseErrors } from '../parse/parse-errors.ts'
import type { PathListItem } from '../parse/parse-path-list.ts'
import { optimizePredicate } from '../plan/optimize.ts'
import { AggregateErrors } from './aggregate-errors.ts'

/** Aggregated attribute: of the entity itself, at the end of N→1 relations, or a property inside such an attribute. */
export interface Measure {
  /** Path as written by the client. */
  readonly name: string
  readonly dataClass: DataClass
  readonly relations: readonly RelatedEntityAttribute[]
  readonly attribute: ValueAttribute | RelationAttribute
  readonly properties: readonly string[]
  readonly values: AggregateKind
  /** True for rows that have a value: the optimized predicate of `… != null`. */
  readonly presence: Predicate
}

/**
 * Resolves an element of an attribute list. Aliases and paths over N→1 relations are an extension: the base protocol knows only
 * own attributes and object properties.
 * @throws 404 with [1500, 1804] for a name that does not exist or is private
 * @throws {AggregateErrors.NO_VALUES} for a calculated attribute without code, and beyond a 1→N relation
 * Source: protocol notes, 1.10 and 6.6.
 */
export function bindMeasure({ path }: Pick<PathListItem, 'path'>, dataClass: DataClass, view: View): Measure {
  const name = path.join('.')
  const resolvedPath = resolve(path, dataClass, view)
  const { relations, target, elements, text } = resolvedPath
  if (target.kind === 'calculated' && !target.calculation) {
    throw AggregateErrors.NO_VALUES(text, 'it is calculated, without code')
  }
  const toOne = relations.map(({ relation }) => {
    if (relation.kind === 'relatedEntity') return relation
    throw AggregateErrors.NO_VALUES(
      text,
      `it leads through the 1→N relation "${relation.name}"; query the other dataclass`,
    )
  })
  const properties = elements.flatMap(element => (element.kind === 'property' ? element.name : []))
  const isPresent = joinConditions([bindComparison(resolvedPath, 'notEqual', { kind: 'null' })])
  const presence = optimizePredicate(combine('and', isPresent))
  const values = valuesOf(target, properties)
  return { name, dataClass, relations: toOne, attribute: target, properties, values, presence }
}

/**
 * The first of the named attributes that has scalar values.
 * @throws the errors of {@link bindMeasure}
 * @throws {AggregateErrors.ATTRIBUTE_NEEDED} when there is none
 * Source: protocol notes, 6.7.
 */
export function bindFirstScalar(items: readonly PathListItem[], dataClass: DataClass, view: View): Measure {
  for (const item of items) {
    const measure = bindMeasure(item, dataClass, view)
    if (measure.values !== 'opaque') return measure
  }
  throw AggregateErrors.ATTRIBUTE_NEEDED(dataClass.name)
}

function resolve(path: readonly string[], dataClass: DataClass, view: View): ResolvedPath {
  try {
    return resolvePath(
      path.map(name => ({ name, classIndex: undefined, element: undefined })),
      dataClass,
      view,
    )
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw ParseErrors.ATTRIBUTE_LIST(path.join('.'), dataClass.name).causedBy(error)
  }
}

export function valuesOf(attribute: Measure['attribute'], properties: readonly string[]): AggregateKind {
  if (isRelation(attribute)) return 'opaque'
  if (properties.length === 0) return TYPES[attribute.type].aggregates
  const typeName = attribute.properties.get(properties.join('.'))?.type
  return typeName ? TYPES[typeName].aggregates : 'json'
}

/** The aggregated attribute and the descriptor of its scalar type; undefined inside objects and for other types. */
export function ownScalar({
  attribute,
  properties,
}: Measure): { readonly attribute: ValueAttribute; readonly descriptor: ScalarDescriptor } | undefined {
  if (isRelation(attribute) || properties.length > 0 || !isScalarType(attribute.type)) return undefined
  return { attribute, descriptor: TYPES[attribute.type] }
}
