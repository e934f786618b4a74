import {
  type Attribute,
  type DataClass,
  isRelation,
  type JsonSchema,
  type StorageAttribute,
  TYPES,
  type View,
  defaultJson,
  isFilled,
} from '../../engine/index.ts'
import { componentName, partRef, schemaRef } from './names.ts'
import { sampleOf } from './samples.ts'

/** Members of entities other than their attributes. */
const SERVICE: Readonly<Record<string, JsonSchema>> = {
  __entityModel: { type: 'string', description: 'Dataclass of an entity that is not in a collection.' },
  __DATACLASS: { type: 'string' },
  __KEY: { type: 'string', description: 'The primary key.' },
  __TIMESTAMP: { type: 'string', format: 'date-time', description: 'The last change.' },
  __STAMP: { type: 'integer', description: 'Number of changes; a save must send it. 0: new, or deleted.' },
  __GlobalStamp: { type: 'integer' },
  __SCORE: { type: ['number', 'null'], description: 'Score of a filter on a vector, if the attribute list has it.' },
  uri: { type: 'string', format: 'uri-reference', description: 'Address of a saved entity.' },
  __STATUS: schemaRef('rest.Status'),
  __ERROR: { type: 'array', items: schemaRef('rest.Error'), description: 'Why the entity was not saved.' },
  __INDEX: { type: 'integer', description: 'Position in the batch of an entity that was not saved.' },
}
const sharedSchema = (name: string): JsonSchema => schemaRef(`rest.${name}`)

/** Members common to all entities; the schemas of dataclasses refer to it. */
export const ENTITY_SCHEMA: JsonSchema = { type: 'object', properties: SERVICE }

/** Schemas of a dataclass, limited to the attributes that the view shows. */
export function schemasOf(dataClass: DataClass, view: View): Record<string, JsonSchema> {
  const values = (isStored: boolean): JsonSchema =>
    Object.fromEntries(
      view.attributes(dataClass).map(each => [each.name, withDescription(each, sentSchema(each, view, isStored))]),
    )
  const name = componentName(dataClass.name)
  const entity = partRef(dataClass.name)
  const { properties, required, example } = saveParts(dataClass, view)
  const schemas: Record<string, JsonSchema> = {
    [name]: {
      description: `${dataClass.description ?? `An entity of ${dataClass.name}.`} Attributes that the request does not list are absent.`,
      allOf: [sharedSchema('Entity')],
      type: 'object',
      properties: values(true),
    },
    [`${name}.returned`]: {
      description: `An entity of ${dataClass.name} that a function returns. A new one may lack its key and mandatory values.`,
      allOf: [sharedSchema('Entity')],
      type: 'object',
      properties: values(false),
    },
    [`${name}.collection`]: {
      allOf: [sharedSchema('Collection')],
      type: 'object',
      properties: { __ENTITIES: { type: 'array', items: entity } },
      required: ['__ENTITIES'],
    },
    [`${name}.selection`]: {
      description: 'A collection; with `$asArray` an array, with `$format=looker` a table; see `$brief`.',
      anyOf: [
        partRef(dataClass.name, '.collection'),
        { type: 'array', items: entity },
        sharedSchema('Table'),
        sharedSchema('Brief'),
      ],
    },
  }
  if (!isSaved(dataClass, view)) return schemas
  const savedSchema = { anyOf: [sharedSchema('Failed'), entity] }
  return {
    ...schemas,
    [`${name}.save`]: {
      description: `Values of an entity of ${dataClass.name}: with \`__KEY\` and \`__STAMP\` they change an existing entity, otherwise they create one.`,
      type: 'object',
      properties: { __KEY: { type: ['string', 'number'] }, __STAMP: { type: 'integer' }, ...properties },
      ...(required.length > 0 && { 'x-required-for-new': required }),
      ...(example && { example }),
    },
    [`${name}.saved`]: {
      description: 'The saved entity, or all in the order of the body. `validate` returns the entities that fail.',
      anyOf: [
        { type: 'object', properties: { __ENTITIES: { type: 'array', items: savedSchema } }, required: ['__ENTITIES'] },
        { type: 'array', items: savedSchema },
        sharedSchema('Count'),
        ...savedSchema.anyOf,
      ],
    },
  }
}

export const isSaved = (dataClass: DataClass, view: View): boolean =>
  view.may('create', dataClass) || view.may('update', dataClass)

export const COLLECTION_SCHEMA: JsonSchema = {
  type: 'object',
  properties: {
    __ENTITYSET: { type: 'string', description: 'Address of the entity set that was created, or of related entities.' },
    __DATACLASS: { type: 'string' },
    __entityModel: { type: 'string' },
    __GlobalStamp: { type: 'integer', description: 'Number of changes in the whole store.' },
    __COUNT: { type: 'integer', description: 'Number of entities in the selection.' },
    __FIRST: { type: 'integer', description: 'Position of the page in the selection.' },
    __SENT: { type: 'integer', description: 'Number of entities on the page.' },
    __queryPlan: {},
    __queryPath: {},
  },
  required: ['__COUNT'],
}

/** The dataclass to which a relation, or an alias of one, leads. */
export function relatedBy(attribute: Attribute): { target: DataClass; isMany: boolean } | undefined {
  const passedRelations = attribute.kind === 'alias' ? attribute.relations : []
  const end = attribute.kind === 'alias' ? attribute.target : attribute
  if (!isRelation(end)) return undefined
  return { target: end.target, isMany: [...passedRelations, end].some(({ kind }) => kind === 'relatedEntities') }
}

const withDescription = ({ description }: Attribute, schema: JsonSchema): JsonSchema =>
  description === undefined ? schema : { ...schema, description }

/** @param isStored false for values that may not have been saved */
function sentSchema(attribute: Attribute, view: View, isStored: boolean): JsonSchema {
  const relation = relatedBy(attribute)
  if (relation) {
    const { name } = relation.target
    const relatedSchemas = view.shows(relation.target)
      ? relation.isMany
        ? [partRef(name, '.collection'), { type: 'array', items: partRef(name) }]
        : [partRef(name)]
      : []
    return { anyOf: [sharedSchema('Link'), { type: 'null' }, ...relatedSchemas] }
  }
  const end = (attribute.kind === 'alias' ? attribute.target : attribute) as StorageAttribute
  if (end.type === 'image' || end.type === 'blob') return { anyOf: [sharedSchema('Link'), { type: 'null' }] }
  const { output } = TYPES[end.type].jsonSchemas(end)
  const schema = end.choices ? { ...output, enum: end.choices } : output
  return isStored && isNeverNull(attribute) ? schema : nullable(schema)
}

/**
 * True if a value is never null. A mandatory value may be computed, read by an alias of a missing entity, or come from a database that
 * cannot be shown. The key is mandatory.
 */
const isNeverNull = (attribute: Attribute): boolean =>
  attribute.kind === 'storage' &&
  attribute.mandatory &&
  !attribute.calculation &&
  (!attribute.dataClass.place.unfitValues || attribute.dataClass.key === attribute)

const nullable = ({ type, enum: values, ...schema }: JsonSchema): JsonSchema => ({
  ...schema,
  type: [type, 'null'].flat(),
  ...(Array.isArray(values) && { enum: [...values, null] }),
})

/** Attributes that a save may assign, those that a new entity needs, and an example of a new entity. */
function saveParts(
  dataClass: DataClass,
  view: View,
): { properties: Record<string, JsonSchema>; required: string[]; example: object | undefined } {
  const properties: Record<string, JsonSchema> = {}
  const required: string[] = []
  const example: Record<string, unknown> = {}
  const references = new Set(
    dataClass.attributes.flatMap(each => (each.kind === 'relatedEntity' ? [each.foreignKey] : [])),
  )
  for (const attribute of view.attributes(dataClass)) {
    const inputSchema = takenSchema(attribute, view)
    if (!inputSchema) continue
    properties[attribute.name] = withDescription(attribute, inputSchema)
    if (attribute.kind !== 'storage') continue
    const isNeeded = (attribute.mandatory || attribute === dataClass.key) && !isFilled(attribute)
    if (isNeeded) required.push(attribute.name)
    // Foreign keys are left out of the example: the related entity would have to exist.
    const isUsual = !references.has(attribute) && !attribute.unique && !isFilled(attribute)
    const sample = isNeeded || isUsual ? sampleOf(attribute) : undefined
    if (sample !== undefined && (isNeeded || Object.keys(example).length < MAX_SAMPLES))
      example[attribute.name] = sample
  }
  return { properties, required, example: required.every(name => name in example) ? example : undefined }
}

const MAX_SAMPLES = 5

/** Schema of the values that a save accepts; undefined if this caller cannot assign the attribute. */
function takenSchema(attribute: Attribute, view: View): JsonSchema | undefined {
  const { dataClass } = attribute
  if (!view.may('create', dataClass, attribute) && !view.may('update', dataClass, attribute)) return undefined
  if (attribute.kind === 'relatedEntity') {
    const key = { type: ['string', 'number', 'null'] }
    const object = { type: 'object', properties: { __KEY: { type: ['string', 'number'] } }, required: ['__KEY'] }
    return { description: `Key of an entity of ${attribute.target.name}.`, anyOf: [key, object] }
  }
  if (attribute.kind === 'calculated') {
    return attribute.calculation?.settable ? nullable(TYPES[attribute.type].jsonSchemas(attribute).input) : undefined
  }
  if (attribute.kind !== 'storage' || attribute.readOnly) return undefined
  if (attribute.calculation && !attribute.calculation.settable) return undefined
  if (attribute.type === 'image' || attribute.type === 'blob')
    return { anyOf: [sharedSchema('Upload'), { type: 'null' }] }
  return boundedSchema(attribute)
}

/** The type's schema with the bounds of the model. */
function boundedSchema(attribute: StorageAttribute): JsonSchema {
  const { minValue, maxValue, minLength, maxLength, pattern, choices, mandatory } = attribute
  const schema = TYPES[attribute.type].jsonSchemas(attribute).input
  const bounds = {
    minimum: minValue ?? schema.minimum,
    maximum: maxValue ?? schema.maximum,
    minLength,
    maxLength,
    pattern: pattern === undefined ? undefined : ecmaPattern(pattern),
    enum: choices,
    default: defaultJson(attribute),
  }
  const keywords = Object.entries({ ...schema, ...bounds }).filter(([, value]) => value !== undefined)
  const keptSchema = Object.fromEntries(keywords)
  return mandatory ? keptSchema : nullable(keptSchema)
}

/** An RE2 pattern that must match the whole value; undefined if it is not valid in JavaScript. */
function ecmaPattern(pattern: string): string | undefined {
  const wholePattern = `^(?:${pattern})$`
  try {
    new RegExp(wholePattern, 'u')
    return wholePattern
  } catch {
    return undefined
  }
}
