import {
  type AliasAttribute,
  type Attribute,
  isRelation,
  type RelationAttribute,
  type CalculatedAttribute,
  type StorageAttribute,
  type ValueAttribute,
} from '../../catalog/attribute.ts'
import { type DataClass, defaultTop } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { ProtocolError } from '../../base/errors.ts'
import { ParseErrors } from '../parse/parse-errors.ts'
import type { StorageType } from '../../catalog/value-type.ts'
import type { RowLayout } from '../../row-format/row-layout.ts'
import { codeOf } from '../contract/calculated-code.ts'
import type { Output } from '../contract/request.ts'
import { type PathTree, pathText, pathTree } from './path-tree.ts'
import {
  type Brief,
  type CalculatedValue,
  type EntityTemplate,
  entityTemplate,
  type Projection,
  type PropertyTree,
  type RelatedEntitiesValue,
  type ScoreValue,
  tableTemplate,
  type ValueSource,
  valueTemplate,
} from './projection.ts'
import { SerialiseErrors } from '../../answer/serialise-errors.ts'

interface ProjectionLimits {
  /** Maximum nesting of expanded relations. */
  maxExpandDepth: number
  /** Maximum size of an answer, including the related rows that are collected for it. */
  maxAnswerBytes: number
}

/**
 * Name in an attribute list, as an extension, for the score of each entity by the first condition of the filter on a vector of
 * the dataclass. No attribute can have such a name.
 */
const SCORE = '__SCORE'

/** Maximum number of relations that one request expands, over all levels. Each costs a pass over its rows. */
const MAX_RELATIONS = 200

/**
 * Resolves the parts of each entity that a client wants to see.
 *
 * | named | in a path list | in `$attributes` |
 * |---|---|---|
 * | nothing, `*` | every attribute of the view; relations deferred | the same |
 * | `rel` | deferred; with `$expand=rel` the whole entity or collection | the same |
 * | `rel.*`, `rel.att` | deferred; with `$expand=rel` the related with these only | the related with these only |
 * | `object.property` | the object with these properties only | the same |
 *
 * `$expand` says how relations are shown, not which: with an attribute list only the relations in it appear. An attribute named
 * twice is sent once, in its first position. The array form omits relations that are not expanded.
 *
 * @throws {SerialiseErrors.UNKNOWN_ATTRIBUTE} and the other errors with 1500, followed by 1804 or 1805
 * @throws {SerialiseErrors.PATH_TOO_LONG} {@link SerialiseErrors.EXPAND_TOO_DEEP}, {@link SerialiseErrors.TOO_MANY_RELATIONS}
 * Source: base specification, 4.2 and 4.3; protocol notes, 1.10, 3.7, 3.9, 4.1, 4.2.
 */
export function bindProjection(
  dataClass: DataClass,
  output: Output,
  view: View,
  layouts: ReadonlyMap<DataClass, RowLayout>,
  limits: ProjectionLimits,
  score?: Omit<ScoreValue, 'kind'>,
): Projection {
  const { attributes, briefBytes, expand, form, pretty = false, rowFormat, table } = output
  const isWhole = !attributes && !expand && !table && !briefBytes && !rowFormat && !pretty
  const { maxAnswerBytes, maxExpandDepth } = limits
  let cache = keptProjections.get(view)
  if (!cache) {
    const byForm = { entity: new Map(), collection: new Map(), array: new Map(), table: new Map() }
    cache = { byForm, byList: new Map() }
    keptProjections.set(view, cache)
  }
  if (isWhole) {
    const wholeProjection = cache.byForm[form].get(dataClass)
    if (wholeProjection && wholeProjection.maxBytes === maxAnswerBytes && wholeProjection.layouts === layouts)
      return wholeProjection
    const projection = bind(dataClass, output, view, layouts, limits)
    cache.byForm[form].set(dataClass, projection)
    return projection
  }
  const lists = JSON.stringify([attributes, expand, table?.schema, briefBytes, rowFormat])
  // A score belongs to one query.
  const isScored = attributes?.items.some(({ path }) => path[0] === SCORE)
  if (isScored || lists.length > MAX_KEPT_LENGTH) return bind(dataClass, output, view, layouts, limits, score)
  const key = `${dataClass.tableNumber} ${form} ${pretty} ${maxAnswerBytes} ${maxExpandDepth} ${lists}`
  const cachedProjection = cache.byList.get(key)
  if (cachedProjection && cachedProjection.layouts === layouts) return cachedProjection
  const projection = bind(dataClass, output, view, layouts, limits)
  if (cache.byList.size >= MAX_KEPT) cache.byList.clear()
  cache.byList.set(key, projection)
  return projection
}

interface KeptProjections {
  /** Projections of whole entities, by form: building a text as key would take a fortieth of the time of a request for one entity. */
  readonly byForm: Readonly<Record<Output['form'], Map<DataClass, Projection>>>
  /** All other projections, by a text of everything that they depend on. */
  readonly byList: Map<string, Projection>
}

/** Cache by view. Most requests use the same few attribute lists again and again, or whole entities. */
const keptProjections = new WeakMap<View, KeptProjections>()
const MAX_KEPT = 200
/** Maximum length of the lists of a cached projection, as JSON. */
const MAX_KEPT_LENGTH = 500

function bind(
  dataClass: DataClass,
  output: Output,
  view: View,
  layouts: ReadonlyMap<DataClass, RowLayout>,
  limits: ProjectionLimits,
  score?: Omit<ScoreValue, 'kind'>,
): Projection {
  return {
    form: output.form,
    pretty: output.pretty ?? false,
    rowFormat: output.rowFormat,
    maxBytes: limits.maxAnswerBytes,
    layouts,
    entity: new ProjectionBinder(dataClass, output, view, layouts, limits.maxExpandDepth, score).bind(),
  }
}

class ProjectionBinder {
  private relations = 0
  private depth = 0

  constructor(
    private readonly dataClass: DataClass,
    private readonly output: Output,
    private readonly view: View,
    private readonly layouts: ReadonlyMap<DataClass, RowLayout>,
    private readonly maxDepth: number,
    private readonly score: Omit<ScoreValue, 'kind'> | undefined,
  ) {}

  bind(): EntityTemplate {
    const { attributes, expand } = this.output
    return this.entity(
      this.dataClass,
      // An empty list counts as no list: an answer without any attribute would be useless.
      attributes?.items.length ? pathTree(attributes.items) : undefined,
      expand && pathTree(expand),
    )
  }

  /** @param list wanted attributes; undefined for all */
  private entity(dataClass: DataClass, list: PathTree | undefined, expand: PathTree | undefined): EntityTemplate {
    const attributes = this.listedAttributes(dataClass, list)
    const expansions = this.expandedAttributes(dataClass, expand)
    // Names below a relation that is not in the list have no effect, but a wrong one is still an error.
    for (const [attribute, below] of expansions) if (!attributes.has(attribute)) this.value(attribute, undefined, below)

    const values: { name: string; value: ValueSource }[] = []
    for (const attribute of attributes) {
      const value = this.value(attribute, list?.members.get(attribute.name), expansions.get(attribute))
      if (value) values.push({ name: attribute.name, value })
    }
    if (list?.members.has(SCORE) && this.depth === 0) values.push({ name: SCORE, value: this.scoreValue() })
    const { table } = this.output
    if (!table || this.depth > 0) return entityTemplate(this.layout(dataClass), values)
    const valuesByName = new Map(values.map(({ name, value }) => [name, value]))
    return tableTemplate(
      this.layout(dataClass),
      table.schema.map(({ name }) => valuesByName.get(name) ?? { kind: 'null' }),
    )
  }

  private scoreValue(): ScoreValue {
    const { score } = this
    if (!score || score.attribute.dataClass !== this.dataClass) this.failList(SerialiseErrors.NO_SCORE())
    return { kind: 'score', attribute: score!.attribute, similarity: score!.similarity }
  }

  private listedAttributes(dataClass: DataClass, list: PathTree | undefined): Set<Attribute> {
    const all = this.view.attributes(dataClass)
    if (!list) return new Set(all)
    const foundAttributes = new Set<Attribute>()
    for (const name of list.members.keys()) {
      if (name === SCORE && this.depth === 0) continue
      if (name === '*') for (const attribute of all) foundAttributes.add(attribute)
      else foundAttributes.add(this.view.attribute(dataClass, name) ?? this.failList(this.unknown(dataClass, name)))
    }
    return foundAttributes
  }

  /** Attributes to expand, each with the tree to expand below it. */
  private expandedAttributes(dataClass: DataClass, expand: PathTree | undefined): Map<Attribute, PathTree> {
    const trees = new Map<Attribute, PathTree>()
    for (const [name, below] of expand?.members ?? []) {
      if (name === '$all') {
        for (const attribute of this.view.attributes(dataClass)) {
          if (isRelation(attribute) && !trees.has(attribute)) trees.set(attribute, below)
        }
        continue
      }
      const attribute = this.view.attribute(dataClass, name) ?? this.failExpand(this.unknown(dataClass, name))
      const end = endOf(attribute)
      // Links to images and blobs end with `$expand` followed by their own name, which expands nothing without a format.
      const isBinary = end.kind === 'storage' && (end.type === 'image' || end.type === 'blob')
      if (isRelation(end) && this.isShown(end)) trees.set(attribute, below)
      else if (!isBinary || below.members.size > 0) this.failExpand(notExpandable(attribute, 'it is not a relation'))
    }
    return trees
  }

  /** @returns undefined when the attribute is not sent */
  private value(
    attribute: Attribute,
    list: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    if (attribute.kind !== 'alias') return this.ownValue(attribute, attribute, list, expand)
    const hops = attribute.relations
    const passesMany = hops.some(hop => hop.kind === 'relatedEntities')
    if (!passesMany) return this.along(hops, this.ownValue(attribute, attribute.target, list, expand))
    // The alias ends at a relation, and leads to entities like a relation to many.
    const relations = [...hops, attribute.target as RelationAttribute]
    if (!this.isShown(relations.at(-1)!)) return { kind: 'null' }
    return this.collection(relations, { kind: 'link', alias: attribute }, list, expand)
  }

  /** @param namedAttribute the attribute as the client knows it: `ownAttribute` or an alias of it */
  private ownValue(
    namedAttribute: Attribute,
    ownAttribute: Exclude<Attribute, AliasAttribute>,
    list: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    if (isRelation(ownAttribute) && this.isShown(ownAttribute)) return this.relation(ownAttribute, list, expand)
    if (!isRelation(ownAttribute) && ownAttribute.type === 'object' && !isWithoutCode(ownAttribute))
      return this.object(namedAttribute, ownAttribute, list)
    if (hasNames(list)) this.failList(SerialiseErrors.NOT_A_PATH(namedAttribute.name, namedAttribute.dataClass.name))
    if (isRelation(ownAttribute)) return this.deferred(ownAttribute)
    if (isWithoutCode(ownAttribute)) return { kind: 'null' }
    const brief = this.briefOf(namedAttribute, ownAttribute)
    if (ownAttribute.kind === 'calculated') return { ...calculatedValue(ownAttribute), brief }
    const slot = this.slot(ownAttribute)
    return brief ? { kind: 'brief', slot, brief } : { kind: 'slot', slot }
  }

  /** Limit above which a value is sent as a link; undefined if the value is always sent whole, like values of short types. */
  private briefOf(namedAttribute: Attribute, ownAttribute: ValueAttribute): Brief | undefined {
    const { briefBytes: maxBytes } = this.output
    if (maxBytes === undefined || !LONG_TYPES.has(ownAttribute.type)) return undefined
    return { attribute: namedAttribute === ownAttribute ? ownAttribute : undefined, maxBytes }
  }

  private object(namedAttribute: Attribute, attribute: ValueAttribute, list: PathTree | undefined): ValueSource {
    const properties = list && propertyTree(list)
    const brief = this.briefOf(namedAttribute, attribute)
    if (attribute.kind === 'calculated') return { ...calculatedValue(attribute, properties), brief }
    const slot = this.slot(attribute)
    if (properties && properties.size > 0) return { kind: 'properties', slot, properties, ...(brief && { brief }) }
    return brief ? { kind: 'brief', slot, brief } : { kind: 'slot', slot }
  }

  private relation(
    relation: RelationAttribute,
    list: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    if (relation.kind === 'relatedEntities') {
      return this.collection([relation], { kind: 'slot', slot: this.slot(relation) }, list, expand)
    }
    const of = this.relatedTemplate(relation.target, list, expand)
    return of ? { kind: 'relatedEntity', reference: this.reference(relation), of } : this.deferred(relation)
  }

  /** @param link to the entities at the end of the relations */
  private collection(
    relations: readonly RelationAttribute[],
    link: RelatedEntitiesValue['link'],
    list: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    const { target } = relations.at(-1)!
    const of = this.relatedTemplate(target, list, expand)
    if (!of) return this.output.form === 'array' ? undefined : link
    const { skip, count } = expand?.range ?? { skip: 0, count: defaultTop(target) }
    return { kind: 'relatedEntities', relations, link, skip, count, of }
  }

  /** Projection of related entities; undefined for a link to them. */
  private relatedTemplate(
    target: DataClass,
    list: PathTree | undefined,
    expand: PathTree | undefined,
  ): EntityTemplate | undefined {
    const names = hasNames(list) && !(list.ends && expand) ? list : undefined
    const isExpanded = expand !== undefined || (names !== undefined && this.output.attributes?.from === 'parameter')
    if (!names && !isExpanded) return undefined
    if (++this.relations > MAX_RELATIONS) throw SerialiseErrors.TOO_MANY_RELATIONS(MAX_RELATIONS)
    if (++this.depth > this.maxDepth) throw SerialiseErrors.EXPAND_TOO_DEEP(this.maxDepth)
    // Bound even if the relation stays deferred, so that wrong names are reported.
    const of = this.entity(target, names, expand)
    this.depth--
    return isExpanded ? of : undefined
  }

  /** The link as stored in the row. */
  private deferred(relation: RelationAttribute): ValueSource | undefined {
    if (this.output.form === 'array') return undefined
    return this.isShown(relation) ? { kind: 'slot', slot: this.slot(relation) } : { kind: 'null' }
  }

  /** Value of the entity at the end of N→1 relations. */
  private along(hops: readonly RelationAttribute[], value: ValueSource | undefined): ValueSource | undefined {
    return hops.reduceRight<ValueSource | undefined>((behind, hop) => {
      if (!behind) return undefined
      return { kind: 'relatedEntity', reference: this.reference(hop), of: valueTemplate(hop.target, behind) }
    }, value)
  }

  private layout(dataClass: DataClass): RowLayout {
    return this.layouts.get(dataClass)!
  }

  private slot(attribute: StorageAttribute | RelationAttribute): number {
    return this.layout(attribute.dataClass).slotOf.get(attribute)!
  }

  private reference(relation: RelationAttribute): number {
    return this.layout(relation.dataClass).referenceOf.get(relation)!
  }

  /** True if the client may know the names in a link. An alias may end at a relation that is not itself shown. */
  private isShown(relation: RelationAttribute): boolean {
    return this.view.shows(relation.kind === 'relatedEntity' ? relation.target : relation)
  }

  private unknown(dataClass: DataClass, name: string): ProtocolError {
    const hint = this.suggestAddress(name) || this.view.suggestAttribute(dataClass, name)
    return SerialiseErrors.UNKNOWN_ATTRIBUTE(name, dataClass.name, hint)
  }

  /** Proposes the address of the entity for `/City/1`, which is a list of attributes. */
  private suggestAddress(name: string): string {
    const { attributes, form } = this.output
    const isKey = attributes?.from === 'path' && form !== 'entity' && this.depth === 0 && KEY.test(name)
    return isKey ? `; did you mean "${this.dataClass.name}(${pathText(attributes.items).slice(0, 100)})"?` : ''
  }

  private failList(cause: ProtocolError): never {
    const list = pathText(this.output.attributes?.items)
    throw ParseErrors.ATTRIBUTE_LIST(list, this.dataClass.name).causedBy(cause)
  }

  private failExpand(cause: ProtocolError): never {
    throw ParseErrors.EXPAND_LIST(pathText(this.output.expand), this.dataClass.name).causedBy(cause)
  }
}

/** The beginning of a number or a UUID, which no name has. */
const KEY = /^-?\d|^[\da-f]{8}-|^[\da-f]{32}$/i

/** Types of values that may be of any length. */
const LONG_TYPES: ReadonlySet<StorageType> = new Set(['string', 'object', 'vector'])

const isWithoutCode = (attribute: ValueAttribute): boolean =>
  attribute.kind === 'calculated' && attribute.calculation === undefined

/** @throws {Suspended} */
function calculatedValue(attribute: CalculatedAttribute, properties: PropertyTree = new Map()): CalculatedValue {
  codeOf(attribute)
  return { kind: 'calculated', attribute, properties }
}

const endOf = (attribute: Attribute): Exclude<Attribute, AliasAttribute> =>
  attribute.kind === 'alias' ? attribute.target : attribute
const hasNames = (list: PathTree | undefined): list is PathTree => list !== undefined && list.members.size > 0

const notExpandable = (attribute: Attribute, reason: string): ProtocolError =>
  SerialiseErrors.NOT_EXPANDABLE(attribute.name, attribute.dataClass.name, reason)

/** Properties of a list. A name for the whole has precedence over its parts: `address,address.city` is the whole address. */
function propertyTree(list: PathTree): PropertyTree {
  if (list.ends || list.members.has('*')) return new Map()
  return new Map([...list.members].map(([name, below]) => [name, propertyTree(below)]))
}
