import {
  type AliasAttribute,
  type Attribute,
  isRelation,
  type RelationAttribute,
  type CalculatedAttribute,
  type StorageAttribute,
  type ValueAttribute,
} from '../../catalog/attribute.ts'
import type { DataClass } from '../../catalog/dataclass.ts'
import type { View } from '../../catalog/view.ts'
import type { ProtocolError } from '../../errors.ts'
import { ParseErrors } from '../parse/parse-errors.ts'
import type { RowLayout } from '../../storage/row-layout.ts'
import { codeOf } from '../calculated-code.ts'
import type { Output } from '../request.ts'
import { type PathTree, pathText, pathTree } from './path-tree.ts'
import {
  type EntityTemplate,
  entityTemplate,
  type Projection,
  type PropertyTree,
  type ScoreValue,
  type ValueSource,
  valueTemplate,
} from './projection.ts'
import { SerialiseErrors } from './serialise-errors.ts'

export interface ProjectionLimits {
  /** Relations expanded inside each other. */
  maxExpandDepth: number
  /** Size of an answer, with the related rows that are collected for it. */
  maxAnswerBytes: number
}

/**
 * In an attribute list, as an extension: the score of each entity by the first condition of the filter on a vector of the
 * dataclass. No attribute can have such a name.
 */
const SCORE = '__SCORE'

/** Relations that one request expands, all levels together. Each costs a pass over its rows. */
const MAX_RELATIONS = 200
const DEFAULT_TOP = 100

/**
 * Looks up what a client wants to see of each entity.
 *
 * | named | in a path list | in `$attributes` |
 * |---|---|---|
 * | nothing, `*` | every attribute of the view; relations deferred | the same |
 * | `rel` | deferred; with `$expand=rel` the whole entity or collection | the same |
 * | `rel.*`, `rel.att` | deferred; with `$expand=rel` the related with these only | the related with these only |
 * | `object.property` | the object with these properties only | the same |
 *
 * `$expand` says how relations are shown, not which: with an attribute list only those in it appear. An attribute named
 * twice is sent once, where it is named first. In the array form relations that are not expanded are left out.
 *
 * @throws {SerialiseErrors.UNKNOWN_ATTRIBUTE} and the others with 1500, followed by 1804 or 1805
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
  const { attributes, expand, form, pretty = false } = output
  const lists = attributes || expand ? JSON.stringify([attributes, expand]) : ''
  // A score is of one query.
  const isScored = attributes?.items.some(({ path }) => path[0] === SCORE)
  if (isScored || lists.length > MAX_KEPT_LENGTH) return bind(dataClass, output, view, layouts, limits, score)
  let kept = keptProjections.get(view)
  if (!kept) {
    kept = new Map()
    keptProjections.set(view, kept)
  }
  const { maxAnswerBytes, maxExpandDepth } = limits
  const key = `${dataClass.tableNumber} ${form} ${pretty} ${maxAnswerBytes} ${maxExpandDepth} ${lists}`
  const known = kept.get(key)
  if (known && known.layouts === layouts) return known
  const projection = bind(dataClass, output, view, layouts, limits)
  if (kept.size >= MAX_KEPT) kept.clear()
  kept.set(key, projection)
  return projection
}

/** Most requests ask for the same few lists of attributes again and again, or for whole entities. */
const keptProjections = new WeakMap<View, Map<string, Projection>>()
const MAX_KEPT = 200
/** Of the lists as JSON. */
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
      // An empty list is none: an answer without any attribute would be of no use.
      attributes?.items.length ? pathTree(attributes.items) : undefined,
      expand && pathTree(expand),
    )
  }

  /** @param listed what of the entity is wanted; undefined for all of it */
  private entity(dataClass: DataClass, listed: PathTree | undefined, expand: PathTree | undefined): EntityTemplate {
    const attributes = this.listedAttributes(dataClass, listed)
    const expanded = this.expandedAttributes(dataClass, expand)
    // Names behind a relation that the list leaves out have no effect, but a wrong one is still the client's mistake.
    for (const [attribute, below] of expanded) if (!attributes.has(attribute)) this.value(attribute, undefined, below)

    const values: { name: string; value: ValueSource }[] = []
    for (const attribute of attributes) {
      const value = this.value(attribute, listed?.members.get(attribute.name), expanded.get(attribute))
      if (value) values.push({ name: attribute.name, value })
    }
    if (listed?.members.has(SCORE) && this.depth === 0) values.push({ name: SCORE, value: this.scoreValue() })
    return entityTemplate(this.layout(dataClass), values)
  }

  private scoreValue(): ScoreValue {
    const { score } = this
    if (!score || score.attribute.dataClass !== this.dataClass) this.failList(SerialiseErrors.NO_SCORE())
    return { kind: 'score', attribute: score!.attribute, similarity: score!.similarity }
  }

  private listedAttributes(dataClass: DataClass, listed: PathTree | undefined): Set<Attribute> {
    const all = this.view.attributes(dataClass)
    if (!listed) return new Set(all)
    const found = new Set<Attribute>()
    for (const name of listed.members.keys()) {
      if (name === SCORE && this.depth === 0) continue
      if (name === '*') for (const attribute of all) found.add(attribute)
      else found.add(this.view.attribute(dataClass, name) ?? this.failList(this.unknown(dataClass, name)))
    }
    return found
  }

  /** Each attribute that is expanded, with what is expanded below it. */
  private expandedAttributes(dataClass: DataClass, expand: PathTree | undefined): Map<Attribute, PathTree> {
    const found = new Map<Attribute, PathTree>()
    for (const [name, below] of expand?.members ?? []) {
      if (name === '$all') {
        for (const attribute of this.view.attributes(dataClass)) {
          if (isRelation(attribute) && !found.has(attribute)) found.set(attribute, below)
        }
        continue
      }
      const attribute = this.view.attribute(dataClass, name) ?? this.failExpand(this.unknown(dataClass, name))
      const end = endOf(attribute)
      // The links to images and blobs end with `$expand` of their own name. Without a format there is nothing to expand.
      const isBinary = end.kind === 'storage' && (end.type === 'image' || end.type === 'blob')
      if (isRelation(end) && this.isShown(end)) found.set(attribute, below)
      else if (!isBinary || below.members.size > 0) this.failExpand(notExpandable(attribute, 'it is no relation'))
    }
    return found
  }

  /** @returns undefined when the attribute is not sent */
  private value(
    attribute: Attribute,
    listed: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    if (attribute.kind !== 'alias') return this.ownValue(attribute, attribute, listed, expand)
    const hops = attribute.relations
    const many = hops.findIndex(hop => hop.kind === 'relatedEntities')
    if (many < 0) return this.along(hops, this.ownValue(attribute, attribute.target, listed, expand))
    // There is a value for each related entity: shown as the link to these, like the relation itself.
    if (expand) this.failExpand(notExpandable(attribute, 'it passes through a relation to many'))
    if (hasNames(listed)) this.failList(notExpandable(attribute, 'it passes through a relation to many'))
    return this.along(hops.slice(0, many), this.deferred(hops[many]!))
  }

  /** @param named the attribute as the client knows it: `own` or an alias of it */
  private ownValue(
    named: Attribute,
    own: Exclude<Attribute, AliasAttribute>,
    listed: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    if (isRelation(own) && this.isShown(own)) return this.relation(own, listed, expand)
    if (!isRelation(own) && own.type === 'object' && !isWithoutCode(own)) return this.object(own, listed)
    if (hasNames(listed)) this.failList(SerialiseErrors.NOT_A_PATH(named.name, named.dataClass.name))
    if (isRelation(own)) return this.deferred(own)
    if (isWithoutCode(own)) return { kind: 'null' }
    return own.kind === 'calculated' ? calculatedValue(own) : { kind: 'slot', slot: this.slot(own) }
  }

  private object(attribute: ValueAttribute, listed: PathTree | undefined): ValueSource {
    const properties = listed && propertyTree(listed)
    if (attribute.kind === 'calculated') return calculatedValue(attribute, properties)
    const slot = this.slot(attribute)
    return properties && properties.size > 0 ? { kind: 'properties', slot, properties } : { kind: 'slot', slot }
  }

  private relation(
    relation: RelationAttribute,
    listed: PathTree | undefined,
    expand: PathTree | undefined,
  ): ValueSource | undefined {
    const named = hasNames(listed) && !(listed.ends && expand) ? listed : undefined
    const isExpanded = expand !== undefined || (named !== undefined && this.output.attributes?.from === 'parameter')
    if (!named && !isExpanded) return this.deferred(relation)

    if (++this.relations > MAX_RELATIONS) throw SerialiseErrors.TOO_MANY_RELATIONS(MAX_RELATIONS)
    if (++this.depth > this.maxDepth) throw SerialiseErrors.EXPAND_TOO_DEEP(this.maxDepth)
    // Also where the relation stays deferred: it tells wrong names.
    const of = this.entity(relation.target, named, expand)
    this.depth--
    if (!isExpanded) return this.deferred(relation)
    if (relation.kind === 'relatedEntity') {
      return { kind: 'relatedEntity', reference: this.reference(relation), of }
    }
    const { skip, count } = expand?.range ?? { skip: 0, count: relation.target.defaultTopSize ?? DEFAULT_TOP }
    return { kind: 'relatedEntities', relation, slot: this.slot(relation), skip, count, of }
  }

  /** The link as it stands in the row. */
  private deferred(relation: RelationAttribute): ValueSource | undefined {
    if (this.output.form === 'array') return undefined
    return this.isShown(relation) ? { kind: 'slot', slot: this.slot(relation) } : { kind: 'null' }
  }

  /** A value of the entity at the end of N→1 relations. */
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

  /** Whether the names in a link may be known. An alias may end at a relation that is not shown itself. */
  private isShown(relation: RelationAttribute): boolean {
    return this.view.shows(relation.kind === 'relatedEntity' ? relation.target : relation)
  }

  private unknown(dataClass: DataClass, name: string): ProtocolError {
    return SerialiseErrors.UNKNOWN_ATTRIBUTE(name, dataClass.name, this.view.suggestAttribute(dataClass, name))
  }

  private failList(cause: ProtocolError): never {
    const list = pathText(this.output.attributes?.items)
    throw ParseErrors.ATTRIBUTE_LIST(list, this.dataClass.name).causedBy(cause)
  }

  private failExpand(cause: ProtocolError): never {
    throw ParseErrors.EXPAND_LIST(pathText(this.output.expand), this.dataClass.name).causedBy(cause)
  }
}

const isWithoutCode = (attribute: ValueAttribute): boolean =>
  attribute.kind === 'calculated' && attribute.calculation === undefined

/** @throws {CodeNeeded} */
function calculatedValue(attribute: CalculatedAttribute, properties: PropertyTree = new Map()): ValueSource {
  codeOf(attribute)
  return { kind: 'calculated', attribute, properties }
}

const endOf = (attribute: Attribute): Exclude<Attribute, AliasAttribute> =>
  attribute.kind === 'alias' ? attribute.target : attribute
const hasNames = (listed: PathTree | undefined): listed is PathTree => listed !== undefined && listed.members.size > 0

const notExpandable = (attribute: Attribute, reason: string): ProtocolError =>
  SerialiseErrors.NOT_EXPANDABLE(attribute.name, attribute.dataClass.name, reason)

/** What is named as a whole wins over its parts: `address,address.city` is the whole address. */
function propertyTree(listed: PathTree): PropertyTree {
  if (listed.ends || listed.members.has('*')) return new Map()
  return new Map([...listed.members].map(([name, below]) => [name, propertyTree(below)]))
}
