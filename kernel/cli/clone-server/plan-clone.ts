import { freeName } from '../../../engine/base/text/free-name.ts'
import {
  type Addition,
  attributeWith,
  type DraftAttribute,
  type DraftClass,
  grow,
  inOrder,
  type OnLeft,
  relationOf,
  typeOf,
  usable,
} from '../draft-model.ts'
import type { ClassPlan, ClonePlan } from './class-plan.ts'
import { findForeignKey, type Samples } from './find-foreign-key.ts'
import type { SourceAttribute, SourceCatalog, SourceClass } from './read-catalog.ts'

interface PlanOptions {
  readonly name: string
  /** Store the values of calculated attributes. */
  readonly keepCalculated: boolean
  /** Called with a sentence for each thing that is not copied as it is. */
  readonly onNote: (note: string) => void
  /** First entities of a dataclass, with the values of these attributes. */
  readonly sample: (dataClass: string, attributes: readonly string[]) => Promise<Samples>
}

/** Decides how the dataclasses of a catalog are copied. @throws {SourceError} samples cannot be read */
export async function planClone(catalog: SourceCatalog, options: PlanOptions): Promise<ClonePlan> {
  const { name, onNote } = options
  const onLeft: OnLeft = (subject, reason) => onNote(`${subject} is left out: ${reason}`)
  const drafts = new Map<string, Draft>()
  for (const each of catalog.classes) {
    const draft = await draftOf(each, options, onLeft)
    if (draft) drafts.set(each.name, draft)
  }
  const relations: Addition[] = []
  for (const draft of drafts.values()) relations.push(...(await relationsOf(draft, drafts, options, onLeft)))
  const dataClasses = Object.fromEntries([...drafts].map(([each, draft]) => [each, classOf(draft)]))
  const aliases = [...drafts.values()].flatMap(({ source }) => aliasesOf(source, onLeft))
  const grown = grow(grow({ name, dataClasses }, relations, onLeft), aliases, onLeft)
  const namesOf = (dataClass: string): string[] => {
    const { source, links } = drafts.get(dataClass)!
    return source.attributes.flatMap(({ name }) => [
      ...links.flatMap(({ relation, attribute }) => (relation === name ? attribute : [])),
      name,
    ])
  }
  const functions = [...catalog.classes.flatMap(each => each.functions), ...catalog.singletons]
  if (functions.length > 0) onNote(`functions are not copied: ${functions.join(', ')}`)
  return {
    model: inOrder(grown, namesOf),
    classes: [...drafts.values()].map(planOf),
  }
}

/** A dataclass that is being planned. */
interface Draft {
  readonly source: SourceClass
  readonly key: string
  readonly isKeyHidden: boolean
  /** Storage attributes of the model. */
  readonly attributes: Record<string, DraftAttribute>
  readonly links: { relation: string; attribute: string }[]
}

const BINARY = new Set<unknown>(['image', 'blob'])
/** Types of the catalog that a model has under the same name. */
const TYPES = new Set('bool byte word long long64 number float date duration string uuid object image blob'.split(' '))
const SCALARS = new Set([...TYPES].filter(type => !['object', 'image', 'blob'].includes(type)))

async function draftOf(source: SourceClass, options: PlanOptions, onLeft: OnLeft): Promise<Draft | undefined> {
  const { name, key } = source
  if (key === undefined) return void onLeft(name, 'the catalog shows no primary key')
  const attributes: Record<string, DraftAttribute> = {}
  for (const attribute of source.attributes) {
    const isStored = attribute.kind === 'storage'
    const isKept = attribute.kind === 'calculated' && options.keepCalculated
    if (attribute.kind === 'calculated' && !isKept)
      onLeft(`${name}.${attribute.name}`, 'it is calculated by code; --keep-calculated stores its current values')
    if (!isStored && !isKept) continue
    const storage = storageOf(attribute, attribute.name === key)
    if (typeof storage === 'string') onLeft(`${name}.${attribute.name}`, storage)
    else {
      const fit = usable(name, attribute.name, storage, onLeft)
      if (fit) attributes[attribute.name] = fit
    }
  }
  const isKeyHidden = !source.attributes.some(attribute => attribute.name === key)
  if (isKeyHidden) {
    const { entities } = await options.sample(name, [])
    const type = typeOfKeys(entities.map(({ __KEY }) => String(__KEY)))
    const fit = usable(name, key, { type }, onLeft)
    if (fit) {
      attributes[key] = fit
      options.onNote(`${name}.${key}, its key, is not in the catalog: it becomes an attribute of type ${type}`)
    }
  }
  if (!attributes[key]) return void onLeft(name, `its key ${key} cannot be an attribute`)
  return { source, key, isKeyHidden, attributes, links: [] }
}

/** @returns the reason if the model cannot have such an attribute */
function storageOf(attribute: SourceAttribute, isKey: boolean): DraftAttribute | string {
  const { type: sourceType, kind, scale, dimension } = attribute
  const isDecimal = typeof scale === 'number' && (sourceType === 'number' || sourceType === 'string')
  const isVector = typeof dimension === 'number' && sourceType === 'object'
  if (!TYPES.has(sourceType)) return `${JSON.stringify(sourceType)} is not a known type`
  const type = isDecimal ? 'decimal' : isVector ? 'vector' : sourceType
  const isScalar = SCALARS.has(sourceType)
  const isUnique = isScalar && !isKey && attribute.unique === true
  const result = attributeWith({
    type,
    simpleDate: type === 'date' && attribute.simpleDate === true,
    scale: isDecimal && scale,
    asText: isDecimal && sourceType === 'string',
    dimension: isVector && dimension,
    ...(kind === 'storage' && {
      indexed: isScalar && !isKey && !isUnique && attribute.indexed === true,
      unique: isUnique,
      mandatory: !isKey && attribute.mandatory === true,
      readOnly: attribute.readOnly === true,
      autoFill: attribute.autosequence === true ? 'increment' : isKey && type === 'uuid' && 'uuid',
    }),
    multiLine: type === 'string' && attribute.multiLine === true,
    defaultFormat: formatOf(attribute.defaultFormat),
    ...(kind === 'storage' && limitsOf(attribute)),
  })
  const { default: initial } = attribute
  return { ...result, ...(kind === 'storage' && initial !== undefined && { default: initial }) }
}

const LIMITS = ['minValue', 'maxValue', 'minLength', 'maxLength', 'pattern', 'choices']

const limitsOf = (attribute: SourceAttribute): object =>
  Object.fromEntries(LIMITS.flatMap(name => (attribute[name] == null ? [] : [[name, attribute[name]]])))

function formatOf(value: unknown): object | undefined {
  const format = typeof value === 'object' && value !== null ? (value as { format?: unknown }).format : undefined
  return typeof format === 'string' ? { format } : undefined
}

function typeOfKeys(keys: readonly string[]): string {
  if (keys.length > 0 && keys.every(key => /^-?\d{1,18}$/.test(key))) return 'long64'
  if (keys.length > 0 && keys.every(key => /^[\dA-F]{32}$/i.test(key))) return 'uuid'
  return 'string'
}

/** To-one relations of a dataclass, each with its inverse relation. */
async function relationsOf(
  draft: Draft,
  drafts: ReadonlyMap<string, Draft>,
  { onNote, sample }: PlanOptions,
  onLeft: OnLeft,
): Promise<Addition[]> {
  const { source } = draft
  const toOne = source.attributes.filter(({ kind }) => kind === 'relatedEntity')
  for (const { name, kind, type } of source.attributes) {
    if (!['storage', 'calculated', 'alias', 'relatedEntity', 'relatedEntities'].includes(kind))
      onLeft(`${source.name}.${name}`, `${JSON.stringify(kind)} is not a known kind of attribute`)
    if (kind === 'relatedEntities' && ![...drafts.values()].some(each => reverseOf(each, source, name, type)))
      onLeft(`${source.name}.${name}`, 'the relation that it reverses is not in the catalog')
  }
  if (toOne.length === 0) return []
  const scalars = source.attributes.filter(
    ({ kind, type, name }) => kind === 'storage' && SCALARS.has(type) && draft.attributes[name],
  )
  const samples = await sample(
    source.name,
    [...scalars, ...toOne].map(({ name }) => name),
  )
  const usedKeys = new Set<string>()
  const additions: Addition[] = []
  for (const relation of toOne) {
    const subject = `${source.name}.${relation.name}`
    const target = drafts.get(relation.type)
    if (!target) {
      onLeft(subject, `${relation.type || 'the related dataclass'} is not copied`)
      continue
    }
    const keyAttribute = target.attributes[target.key]!
    const candidates = scalars.filter(
      ({ name }) => !usedKeys.has(name) && isAlike(draft.attributes[name]!, keyAttribute),
    )
    let foreignKey = findForeignKey(
      relation,
      candidates.map(({ name }) => name),
      draft.key,
      samples,
    )
    if (foreignKey === undefined) {
      foreignKey = freeAttribute(`${relation.name}ID`, draft)
      draft.attributes[foreignKey] = { ...typeOf(keyAttribute), scope: 'private' }
      draft.links.push({ relation: relation.name, attribute: foreignKey })
      onNote(`${subject}: the catalog shows no foreign key; the private attribute ${foreignKey} holds it`)
    } else if (foreignKey !== relation.foreignKey) onNote(`${subject} has the foreign key ${foreignKey}, by its values`)
    usedKeys.add(foreignKey)
    const back = target.source.attributes.find(
      ({ kind, name, type }) => kind === 'relatedEntities' && reverseOf(draft, target.source, name, type) === relation,
    )
    const ends = { from: source.name, name: relation.name, to: relation.type, inverse: back?.name }
    additions.push(relationOf({ ...ends, foreignKey, collection: source.name }))
  }
  return additions
}

/** The to-one relation of a dataclass that a to-many relation of `from` reverses. */
function reverseOf(draft: Draft, from: SourceClass, name: string, type: string): SourceAttribute | undefined {
  const { source } = draft
  if (type !== source.name && type !== (source.collectionName ?? `${source.name}Selection`)) return undefined
  const back = from.attributes.find(each => each.name === name)!
  return source.attributes.find(
    each =>
      each.kind === 'relatedEntity' &&
      each.type === from.name &&
      (each.inverseName === name || each.name === back.inverseName || each.name === back.path),
  )
}

const INTEGERS = new Set<unknown>(['byte', 'word', 'long', 'long64'])

/** True if a foreign key can have one type and the key it refers to the other. */
const isAlike = (a: DraftAttribute, b: DraftAttribute): boolean =>
  (a.type === b.type && a.scale === b.scale) || (INTEGERS.has(a.type) && INTEGERS.has(b.type))

const freeAttribute = (preferredName: string, { source, attributes }: Draft): string =>
  freeName(preferredName, name => name in attributes || source.attributes.some(each => each.name === name))

function aliasesOf(source: SourceClass, onLeft: OnLeft): Addition[] {
  return source.attributes.flatMap(({ kind, name, path }) => {
    if (kind !== 'alias') return []
    const subject = `${source.name}.${name}`
    if (typeof path === 'string' && path !== '') return [{ subject, attributes: [[source.name, name, { kind, path }]] }]
    onLeft(subject, 'the catalog does not show the path of the alias')
    return []
  })
}

function classOf({ source, key, attributes }: Draft): DraftClass {
  const { name, collectionName } = source
  const isUsual = collectionName === undefined || collectionName === `${name}Selection`
  return { ...(!isUsual && { collectionName }), key, attributes }
}

function planOf(draft: Draft): ClassPlan {
  const { source, key, isKeyHidden, attributes, links } = draft
  const derivedNames = new Set([...links.map(({ attribute }) => attribute), ...(isKeyHidden ? [key] : [])])
  const sourceNames = Object.keys(attributes).filter(name => !derivedNames.has(name))
  return {
    name: source.name,
    key,
    isKeyHidden,
    values: sourceNames.filter(name => !BINARY.has(attributes[name]!.type)),
    binaries: sourceNames.filter(name => BINARY.has(attributes[name]!.type)),
    links,
    stamp: freeAttribute('sourceStamp', draft),
  }
}
