import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { METRICS } from './attribute.ts'
import type { TypeOption } from './types/descriptor.ts'
import { TYPES } from './types/registry.ts'
import { CALCULATED_TYPES, PROPERTY_TYPES, STORAGE_TYPES } from './value-type.ts'

/**
 * The model file: dataclasses and attributes under the names that the catalog shows for them.
 * Source: base specification, 2.2 and 2.3; protocol notes, 3.1.
 */

/** Maximum with which the vectors of 4096 rows fit into the working memory of a thread. */
const MAX_DIMENSION = 8192

const OPTIONS: readonly TypeOption[] = [
  'indexed',
  'unique',
  'minValue',
  'maxValue',
  'minLength',
  'maxLength',
  'pattern',
  'multiLine',
  'simpleDate',
  'scale',
  'asText',
  'properties',
  'dimension',
  'metric',
  'hnsw',
]

/** Types that each option of a storage attribute is for; options that are not listed fit every type. */
export const TYPES_OF_OPTION: ReadonlyMap<string, readonly string[]> = new Map(
  OPTIONS.map(option => [option, STORAGE_TYPES.filter(type => TYPES[type].options.includes(option))]),
)

export const typesOfAutoFill = (autoFill: 'increment' | 'uuid'): readonly string[] =>
  STORAGE_TYPES.filter(type => TYPES[type].autoFill.includes(autoFill))

/** Schema of one of several words, as a single `enum`: an `anyOf` of constants would report a problem for each of them. */
const oneOf = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...(description && { description }) })
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const closed = { additionalProperties: false }

const formerName = Type.Optional(
  Type.String({ description: 'Its name in the model before: what is stored stays. Without effect once that is done.' }),
)

const common = {
  formerName,
  scope: Type.Optional(oneOf(['public', 'private'], 'Whether clients get to see it; public by default.')),
  extraProperties: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Free-form; passed on in the catalog.' }),
  ),
}

const parameters = {
  simpleDate: flag('A date without time of day.'),
  scale: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 18, description: 'Of a decimal: digits after the point, of 18 in all.' }),
  ),
  asText: flag('Of a decimal: answers have it as a text, which clients do not round.'),
}

export const ATTRIBUTE_SCHEMAS = {
  storage: Type.Object(
    {
      kind: Type.Optional(oneOf(['storage'])),
      type: oneOf(STORAGE_TYPES, 'Type of the values.'),
      ...common,
      indexed: flag('Keep an ordered index. The key, unique attributes and foreign keys always have one.'),
      unique: flag('No two entities may have the same value; texts differ only when their folds do.'),
      mandatory: flag('Null is refused.'),
      readOnly: flag('Clients cannot set it.'),
      minValue: Type.Optional(Type.Number({ description: 'Minimum value; for a duration in milliseconds.' })),
      maxValue: Type.Optional(Type.Number({ description: 'Maximum value; for a duration in milliseconds.' })),
      minLength: Type.Optional(Type.Integer({ minimum: 0, description: 'Minimum number of characters.' })),
      maxLength: Type.Optional(Type.Integer({ minimum: 0, description: 'Maximum number of characters.' })),
      pattern: Type.Optional(
        Type.String({
          description:
            'RE2 expression that a whole value has to match. A value beyond 100,000 characters matches none.',
        }),
      ),
      ...parameters,
      autoFill: Type.Optional(oneOf(['increment', 'uuid'], 'How a missing value is made for a new entity.')),
      defaultFormat: Type.Optional(
        Type.Object({ format: Type.String() }, { ...closed, description: 'Display format for clients.' }),
      ),
      multiLine: flag('A text of several lines.'),
      properties: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object(
            {
              type: oneOf(PROPERTY_TYPES),
              indexed: flag('Keep a column and an ordered index of its values of that type.'),
            },
            closed,
          ),
          { description: 'Of an object: what is known of its properties, by dotted path.' },
        ),
      ),
      dimension: Type.Optional(
        Type.Integer({ minimum: 1, maximum: MAX_DIMENSION, description: 'Of a vector: how many numbers it has.' }),
      ),
      metric: Type.Optional(oneOf(METRICS, 'Of a vector: the metric of its index; cosine by default.')),
      hnsw: Type.Optional(
        Type.Object(
          {
            m: Type.Optional(
              Type.Integer({ minimum: 2, maximum: 100, description: 'Neighbours of each; 16 by default.' }),
            ),
            efConstruction: Type.Optional(
              Type.Integer({ minimum: 10, maximum: 2000, description: 'Candidates of an insertion; 100 by default.' }),
            ),
            ef: Type.Optional(
              Type.Integer({
                minimum: 10,
                maximum: 10_000,
                description: 'Candidates of a search; by default the index finds out how many are enough.',
              }),
            ),
          },
          { ...closed, description: 'Of a vector: keep an index of its nearest neighbours.' },
        ),
      ),
    },
    closed,
  ),
  relatedEntity: Type.Object(
    {
      kind: oneOf(['relatedEntity']),
      type: Type.String({ description: 'Dataclass of the related entity.' }),
      ...common,
      foreignKey: Type.String({ description: 'Attribute of this dataclass that holds the key of the related entity.' }),
      inverseName: Type.Optional(Type.String({ description: 'The relation of the other dataclass that leads back.' })),
      onDelete: Type.Optional(
        oneOf(
          ['restrict', 'setNull', 'cascade'],
          'What happens here when the related entity is deleted; restrict by default.',
        ),
      ),
    },
    { ...closed, description: 'A relation to one entity (N→1).' },
  ),
  relatedEntities: Type.Object(
    {
      kind: oneOf(['relatedEntities']),
      type: Type.String({ description: 'Collection name (or name) of the dataclass of the related entities.' }),
      ...common,
      inverseName: Type.String({ description: 'Its relation to one entity that this one reverses.' }),
      reversePath: Type.Optional(Type.Unsafe<true>({ type: 'boolean', enum: [true] })),
    },
    { ...closed, description: 'The reverse of a relation to one entity (1→N).' },
  ),
  alias: Type.Object(
    {
      kind: oneOf(['alias']),
      ...common,
      path: Type.String({ description: 'Relations and, at the end, the attribute meant: `country.name`.' }),
    },
    { ...closed, description: 'Another name for the attribute at the end of a path.' },
  ),
  calculated: Type.Object(
    {
      kind: oneOf(['calculated']),
      type: oneOf(CALCULATED_TYPES),
      ...common,
      ...parameters,
      stored: flag('Computed when an entity is saved and kept with it; for what depends on its own attributes only.'),
      indexed: flag('Keep an ordered index of a stored one.'),
      code: Type.Optional(
        Type.Object(
          { settable: Type.Boolean(), fingerprint: Type.String() },
          { ...closed, description: 'Filled in by the server from the code of the plugins.' },
        ),
      ),
    },
    { ...closed, description: 'A value that the code of a plugin makes.' },
  ),
}

const dataClassSchema = <A extends TSchema>(attribute: A) =>
  Type.Object(
    {
      collectionName: Type.Optional(
        Type.String({ description: 'Name of an entity selection; {name}Selection by default.' }),
      ),
      formerName,
      scope: common.scope,
      tableNumber: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 65_535, description: 'Chosen by the server when absent; never changes.' }),
      ),
      defaultTopSize: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Entities of a page when the client does not say; 100 by default.' }),
      ),
      extraProperties: common.extraProperties,
      key: Type.String({ description: 'The attribute that is the primary key.' }),
      attributes: Type.Record(Type.String(), attribute, { description: 'By name, in the order of the catalog.' }),
    },
    closed,
  )

const modelSchema = <D extends TSchema>(dataClass: D) =>
  Type.Object(
    {
      $schema: Type.Optional(Type.String()),
      name: Type.String({ minLength: 1, description: 'Name of the data store.' }),
      dataClasses: Type.Record(Type.String(), dataClass, { description: 'By name, in the order of the catalog.' }),
    },
    closed,
  )

/** Schema of the whole file, for editors (`config/model.schema.json`). */
export const MODEL_SCHEMA = modelSchema(dataClassSchema(Type.Union(Object.values(ATTRIBUTE_SCHEMAS))))

/** Schemas of single levels, for the loader: it can report more about an attribute once it knows its kind. */
export const SHALLOW_MODEL_SCHEMA = modelSchema(Type.Unknown())
export const SHALLOW_DATA_CLASS_SCHEMA = dataClassSchema(Type.Unknown())

export type StorageModel = Static<typeof ATTRIBUTE_SCHEMAS.storage>
export type RelatedEntityModel = Static<typeof ATTRIBUTE_SCHEMAS.relatedEntity>
export type RelatedEntitiesModel = Static<typeof ATTRIBUTE_SCHEMAS.relatedEntities>
export type AliasModel = Static<typeof ATTRIBUTE_SCHEMAS.alias>
export type CalculatedModel = Static<typeof ATTRIBUTE_SCHEMAS.calculated>
export type AttributeModel = StorageModel | RelatedEntityModel | RelatedEntitiesModel | AliasModel | CalculatedModel
export type DataClassModel = Omit<Static<typeof SHALLOW_DATA_CLASS_SCHEMA>, 'attributes'> & {
  attributes: Record<string, AttributeModel>
}
export type Model = Omit<Static<typeof SHALLOW_MODEL_SCHEMA>, 'dataClasses'> & {
  dataClasses: Record<string, DataClassModel>
}
