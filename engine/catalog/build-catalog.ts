import {
  type AliasAttribute,
  type Attribute,
  isRelation,
  type RelatedEntitiesAttribute,
  type RelatedEntityAttribute,
  type RelationAttribute,
  type StorageAttribute,
  type VectorOptions,
} from './attribute.ts'
import type { Catalog, DataClass, OwnedStorage, RemoteStorage, WireOptions } from './dataclass.ts'
import type {
  AliasModel,
  AttributeModel,
  CalculatedModel,
  DataClassModel,
  Model,
  StorageModel,
} from './model-schema.ts'
import { headAttributes } from './head-attributes.ts'
import { declaredProperties } from './property-columns.ts'
import { parameterOptions, parametersOf } from './types/parameters.ts'
import { TYPES } from './types/registry.ts'
import { assignNumbers, type TableNumbers } from './table-numbers.ts'
import { nameTogether } from './unique-together.ts'
import type { Value } from './value.ts'
import { IN_DATABASE, IN_OWNED_TABLE, IN_STORE, type Place } from './place.ts'

/** Columns of a table that the server creates. No attribute has such a name. */
const OWN_STAMP = '__stamp'
const OWN_TIMESTAMP = '__timestamp'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** A dataclass under construction, and its part of the model file. */
interface Draft {
  dataClass: Mutable<DataClass> & { attributesByName: Map<string, Attribute>; referencedBy: RelatedEntityAttribute[] }
  model: DataClassModel
  positions: Readonly<Record<string, number>>
  /** Names of attributes with the keys of related entities. */
  foreignKeys: ReadonlySet<string>
}

/**
 * Builds the catalog of a checked model: resolves every name to the object it means.
 *
 * A relation to a private dataclass becomes private itself, so that it does not reveal what is not exposed.
 * @param numbers table numbers that the store remembers; {@link assignNumbers} adds new ones
 */
export function buildCatalog(
  checkedModel: Model,
  numbers?: TableNumbers,
  { basePath = '' }: Pick<WireOptions, 'basePath'> = {},
): Catalog {
  const assignedNumbers = assignNumbers(checkedModel, numbers)
  const restPath = `${basePath}/rest`
  const drafts = new Map<string, Draft>()
  for (const [name, dataClassModel] of Object.entries(checkedModel.dataClasses)) {
    const { tableNumber, attributes: positions } = assignedNumbers.dataClasses[name]!
    const dataClass = emptyDataClass(name, dataClassModel, tableNumber, restPath)
    drafts.set(name, { dataClass, model: dataClassModel, positions, foreignKeys: foreignKeysOf(dataClassModel) })
  }
  const byCollection = new Map([...drafts.values()].map(draft => [draft.dataClass.collectionName, draft]))

  /** Returns an attribute by name. Made on first use, so that attributes can depend on others that come later in the model. */
  const resolve = (draft: Draft, name: string): Attribute => {
    const knownAttribute = draft.dataClass.attributesByName.get(name)
    if (knownAttribute) return knownAttribute
    const attribute = make(draft, name, draft.model.attributes[name]!)
    draft.dataClass.attributesByName.set(name, attribute)
    return attribute
  }

  const make = (draft: Draft, name: string, model: AttributeModel): Attribute => {
    const base = {
      name,
      dataClass: draft.dataClass,
      scope: model.scope ?? 'public',
      position: draft.positions[name]!,
      description: model.description,
      extraProperties: model.extraProperties,
    } as const
    switch (model.kind) {
      case 'calculated':
        return { ...base, ...calculatedOptions(draft, name, model) }
      case 'relatedEntity': {
        const target = drafts.get(model.type)!.dataClass
        const relation: RelatedEntityAttribute = {
          ...base,
          kind: 'relatedEntity',
          scope: target.scope === 'private' ? 'private' : base.scope,
          target,
          foreignKey: resolve(draft, model.foreignKey) as StorageAttribute,
          // Set by the 1→N relation that reverses this one.
          inverse: undefined,
          onDelete: model.onDelete ?? 'restrict',
        }
        target.referencedBy.push(relation)
        return relation
      }
      case 'relatedEntities': {
        const target = drafts.get(model.type) ?? byCollection.get(model.type)!
        const inverse = resolve(target, model.inverseName) as Mutable<RelatedEntityAttribute>
        const relation: RelatedEntitiesAttribute = {
          ...base,
          kind: 'relatedEntities',
          scope: target.dataClass.scope === 'private' ? 'private' : base.scope,
          target: target.dataClass,
          inverse,
        }
        inverse.inverse = relation
        return relation
      }
      case 'alias': {
        const { relations, target } = follow(draft, model)
        const scope = isRelation(target) && target.target.scope === 'private' ? 'private' : base.scope
        return { ...base, kind: 'alias', scope, path: model.path.split('.'), relations, target }
      }
      default: {
        const attribute: Mutable<StorageAttribute> = { ...base, ...storageOptions(draft, name, model) }
        if (model.default !== undefined)
          attribute.default = TYPES[model.type].convert(model.default, attribute, false) as Value
        attribute.properties = declaredProperties(attribute, model, draft.positions)
        return attribute
      }
    }
  }

  const follow = (start: Draft, alias: AliasModel): Pick<AliasAttribute, 'relations' | 'target'> => {
    const relations: RelationAttribute[] = []
    let draft = start
    let target: AliasAttribute['target'] | undefined
    for (const step of alias.path.split('.')) {
      if (target) {
        relations.push(target as RelationAttribute)
        draft = drafts.get((target as RelationAttribute).target.name)!
      }
      const attribute = resolve(draft, step)
      if (attribute.kind === 'alias') relations.push(...attribute.relations)
      target = attribute.kind === 'alias' ? attribute.target : attribute
    }
    return { relations, target: target! }
  }

  for (const draft of drafts.values()) {
    draft.dataClass.attributes = Object.keys(draft.model.attributes).map(name => resolve(draft, name))
    draft.dataClass.key = resolve(draft, draft.model.key) as StorageAttribute
    draft.dataClass.head = headAttributes(draft.dataClass.key)
    draft.dataClass.remote = remoteStorage(draft)
    draft.dataClass.uniqueTogether = (draft.model.unique ?? []).map(names =>
      indexTogether(
        draft,
        names.map(name => resolve(draft, name) as StorageAttribute),
      ),
    )
  }
  const dataClasses = [...drafts.values()].map(draft => draft.dataClass)
  return {
    name: checkedModel.name,
    restPath,
    dataClasses,
    dataClassesByName: new Map(dataClasses.map(dataClass => [dataClass.name, dataClass])),
  }
}

function emptyDataClass(
  name: string,
  model: DataClassModel,
  tableNumber: number,
  restPath: string,
): Draft['dataClass'] {
  return {
    name,
    collectionName: model.collectionName ?? `${name}Selection`,
    uri: `${restPath}/${encodeURIComponent(name)}`,
    tableNumber,
    scope: model.scope ?? 'public',
    defaultTopSize: model.defaultTopSize,
    description: model.description,
    extraProperties: model.extraProperties,
    // Set once the attributes have been created.
    key: undefined as unknown as StorageAttribute,
    head: new Map(),
    attributes: [],
    attributesByName: new Map(),
    uniqueTogether: [],
    referencedBy: [],
    place: placeOf(model),
    remote: undefined,
  }
}

function placeOf({ storage, place = IN_STORE }: DataClassModel): Place {
  if (!storage) return place
  return storage.owned ? IN_OWNED_TABLE : IN_DATABASE
}

function remoteStorage({ dataClass, model }: Draft): RemoteStorage | undefined {
  if (!model.storage) return undefined
  const { postgres, schema = 'public', table = dataClass.name, readOnly = false, owned } = model.storage
  const { stamp = owned ? OWN_STAMP : undefined, timestamp = owned ? OWN_TIMESTAMP : undefined } = model.storage
  const columns = new Map<StorageAttribute, readonly string[]>()
  for (const attribute of dataClass.attributes) {
    if (attribute.kind !== 'storage') continue
    const { column = attribute.name } = model.attributes[attribute.name] as StorageModel
    columns.set(attribute, typeof column === 'string' ? [column] : column)
  }
  return {
    connection: postgres,
    schema,
    table,
    readOnly,
    columns,
    stamp,
    timestamp,
    ownedStorage: owned ? formerNames(model) : undefined,
  }
}

/** Former names of a table and its columns. Names set by `table` or `column` do not change with the model, so they need no rename. */
function formerNames({ storage, formerName, attributes }: DataClassModel): OwnedStorage {
  const formerColumns = new Map<string, string>()
  for (const [name, { formerName, ...attribute }] of Object.entries(attributes)) {
    if (formerName !== undefined && !('column' in attribute)) formerColumns.set(name, formerName)
  }
  return { formerTable: storage?.table === undefined ? formerName : undefined, formerColumns }
}

const foreignKeysOf = ({ attributes }: DataClassModel): ReadonlySet<string> =>
  new Set(Object.values(attributes).flatMap(each => (each.kind === 'relatedEntity' ? [each.foreignKey] : [])))

function storageOptions({ model: dataClass, foreignKeys }: Draft, name: string, model: StorageModel) {
  const isKey = dataClass.key === name
  const unique = isKey || (model.unique ?? false)
  return {
    kind: 'storage',
    type: model.type,
    indexed: unique || foreignKeys.has(name) || (model.indexed ?? false),
    unique,
    mandatory: isKey || (model.mandatory ?? false),
    readOnly: model.readOnly ?? false,
    minValue: model.minValue,
    maxValue: model.maxValue,
    minLength: model.minLength,
    maxLength: model.maxLength,
    pattern: model.pattern,
    choices: model.choices,
    ...parametersOf(model),
    autoFill: model.autoFill,
    // Converted once the attribute has been created.
    default: undefined,
    defaultFormat: model.defaultFormat,
    multiLine: model.multiLine ?? false,
    vector: vectorOptions(model),
    calculation: undefined,
    properties: new Map(),
    source: undefined,
    together: undefined,
    head: undefined,
  } as const
}

function indexTogether(draft: Draft, together: readonly StorageAttribute[]): StorageAttribute {
  const { dataClass, positions } = draft
  const name = nameTogether(together.map(member => member.name))
  return {
    ...storageOptions(draft, name, { type: 'string', unique: true }),
    name,
    dataClass,
    scope: 'private',
    position: positions[name]!,
    description: undefined,
    extraProperties: undefined,
    together,
  }
}

function vectorOptions({ dimension, metric = 'cosine', hnsw }: StorageModel): VectorOptions | undefined {
  if (dimension === undefined) return undefined
  return { dimension, metric, hnsw: hnsw && { m: 16, efConstruction: 100, ef: undefined, ...hnsw } }
}

/** Options of a calculated attribute. A stored one differs from a storage attribute only in the source of its values. */
function calculatedOptions(draft: Draft, name: string, { type, code, ...model }: CalculatedModel) {
  const { stored = false, indexed = false } = model
  if (!stored)
    return {
      kind: 'calculated',
      type,
      ...parametersOf(model),
      properties: new Map(),
      vector: undefined,
      calculation: code,
    } as const
  const options = storageOptions(draft, name, { type, indexed, ...parameterOptions(model), readOnly: true })
  return { ...options, calculation: code ?? { settable: false, fingerprint: '' } }
}
