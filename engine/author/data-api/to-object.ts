import { parseAttributeList } from '../../query/parse/parse-path-list.ts'
import { visibleAttribute } from '../../query/bind/resolve-path.ts'
import type { Attribute } from '../../catalog/attribute.ts'
import { suggestion } from '../../base/suggestion.ts'
import { type Binding, isEntity, isSelection } from './binding.ts'
import type { EntityBase } from './entity.ts'
import { UsageErrors } from '../declare/usage-error.ts'

export interface ObjectOptions {
  readonly withKey?: boolean
  readonly withStamp?: boolean
}

/** Attributes to show; under a relation, the attributes of the related entity, or `undefined` for only its key. */
type Tree = Map<string, Tree | undefined>

/** @throws {QueryErrors.UNKNOWN_ATTRIBUTE} */
export function toObject(
  entity: EntityBase,
  binding: Binding,
  filter: string | readonly string[] = [],
  options: ObjectOptions = {},
): Record<string, unknown> {
  return write(entity, treeOf(filter, binding), binding, options)
}

/** {@link toObject} for many entities with the same filter. */
export function objectWriter(
  binding: Binding,
  filter: string | readonly string[] = [],
  options: ObjectOptions = {},
): (entity: EntityBase) => Record<string, unknown> {
  const tree = treeOf(filter, binding)
  return entity => write(entity, tree, binding, options)
}

/** Assigns the values of a plain object. @throws {UsageErrors.unknownAttribute} and what assignments throw */
export function assignObject(entity: EntityBase, binding: Binding, values: object): void {
  const { dataClass, codeSession } = binding
  for (const [name, value] of Object.entries(values)) {
    if (name.startsWith('__')) continue
    const attribute = dataClass.attributesByName.get(name)
    if (!attribute) {
      const names = dataClass.attributes.map(each => each.name)
      throw UsageErrors.unknownAttribute(name, dataClass.name, suggestion(name, names))
    }
    if (attribute.kind === 'relatedEntities') continue
    const isLink = attribute.kind === 'relatedEntity' && value !== null && !isEntity(value)
    const target = isLink
      ? relatedEntity(attribute, value, codeSession.binding(attribute.target.name))
      : (value as unknown)
    ;(entity as unknown as Record<string, unknown>)[name] = target
  }
}

function relatedEntity({ name }: Attribute, link: unknown, target: Binding): EntityBase {
  const key = typeof link === 'object' && link !== null && '__KEY' in link ? link.__KEY : link
  const entity = target.instance.get(key)
  if (!entity) throw UsageErrors.wrongEntity(name, JSON.stringify(key) ?? 'nothing', target.dataClass.name)
  return entity
}

function treeOf(filter: string | readonly string[], binding: Binding): Tree {
  const text = typeof filter === 'string' ? filter : filter.join(',')
  const { codeSession, dataClass } = binding
  const items = codeSession.scope.reading(() => parseAttributeList(text, dataClass.name, codeSession.limits))
  const tree: Tree = new Map()
  if (items.length === 0) addAll(tree, binding)
  for (const { path } of items) add(tree, path, binding)
  return tree
}

/**
 * Adds everything that clients may see, except 1→N relations, images and blobs. Private attributes have to be named explicitly,
 * because the object is usually sent.
 */
function addAll(tree: Tree, { dataClass, codeSession }: Binding): void {
  for (const attribute of codeSession.scope.view.attributes(dataClass)) {
    if (attribute.scope === 'private') continue
    const isBinary = attribute.kind === 'storage' && (attribute.type === 'image' || attribute.type === 'blob')
    const isMany = targetOf(attribute).kind === 'relatedEntities' || passesMany(attribute)
    if (!isBinary && !isMany) tree.set(attribute.name, undefined)
  }
}

const targetOf = (attribute: Attribute): Attribute => (attribute.kind === 'alias' ? attribute.target : attribute)
const passesMany = (attribute: Attribute): boolean =>
  attribute.kind === 'alias' && attribute.relations.some(({ kind }) => kind === 'relatedEntities')

function add(tree: Tree, [name, ...rest]: readonly string[], binding: Binding): void {
  if (name === '*') {
    addAll(tree, binding)
    return
  }
  const attribute = targetOf(
    binding.codeSession.scope.reading(view => visibleAttribute(binding.dataClass, name!, view)),
  )
  const isRelation = attribute.kind === 'relatedEntity' || attribute.kind === 'relatedEntities'
  const inner = isRelation && rest.length > 0 ? (tree.get(name!) ?? new Map()) : tree.get(name!)
  // Members of an object are shown together with the object.
  tree.set(name!, inner)
  if (inner && isRelation) add(inner, rest, binding.codeSession.binding(attribute.target.name))
}

function write(entity: EntityBase, tree: Tree, binding: Binding, options: ObjectOptions): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  if (options.withKey) object.__KEY = entity.getKey()
  if (options.withStamp) object.__STAMP = entity.getStamp()
  for (const [name, inner] of tree) {
    object[name] = shape((entity as unknown as Record<string, unknown>)[name], inner, name, binding, options)
  }
  return object
}

function shape(
  value: unknown,
  inner: Tree | undefined,
  name: string,
  binding: Binding,
  options: ObjectOptions,
): unknown {
  const one = (entity: EntityBase): unknown => {
    if (!inner) return { __KEY: entity.getKey() }
    const attribute = targetOf(binding.dataClass.attributesByName.get(name)!)
    const target = (attribute as Attribute & { kind: 'relatedEntity' }).target
    return write(entity, inner, binding.codeSession.binding(target.name), options)
  }
  if (isEntity(value)) return one(value)
  return isSelection(value) ? Array.from(value, one) : value
}
