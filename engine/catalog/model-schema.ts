import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { AUTO_FILLS, type AutoFill, METRICS } from './attribute.ts'
import type { Place } from './place.ts'
import type { TypeOption } from './types/descriptor.ts'
import { TYPES } from './types/registry.ts'
import { CALCULATED_TYPES, PROPERTY_TYPES, STORAGE_TYPES } from './value-type.ts'

/**
 * The model file: dataclasses and attributes under the names that the catalog shows for them.
 * Source: base specification, 2.2 and 2.3; protocol notes, 3.1.
 */

/** Maximum with which the vectors of 4096 rows fit into the working memory of a thread. */
export const MAX_DIMENSION = 8192

const OPTIONS: readonly TypeOption[] = [
  'indexed',
  'unique',
  'minValue',
  'maxValue',
  'minLength',
  'maxLength',
  'pattern',
  'choices',
  'multiLine',
  'default',
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

export const typesOfAutoFill = (autoFill: AutoFill): readonly string[] =>
  STORAGE_TYPES.filter(type => TYPES[type].autoFill.includes(autoFill))

/** Schema of one of several words, as a single `enum`: an `anyOf` of constants would report a problem for each of them. */
const oneOf = <const T extends string>(values: readonly T[], description?: string) =>
  Type.Unsafe<T>({ type: 'string', enum: values, ...(description && { description }) })
const flag = (description: string) => Type.Optional(Type.Boolean({ description }))
const closedObject = { additionalProperties: false }

const formerName = Type.Optional(
  Type.String({
    description:
      'Previous name in the model; with it, a rename keeps the stored data. Ignored once the rename has been applied.',
  }),
)

const common = {
  formerName,
  scope: Type.Optional(oneOf(['public', 'private'], 'Visibility to clients; public by default.')),
  description: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: 'Description for people and programs that read the catalog.',
    }),
  ),
  extraProperties: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Any properties. Clients receive them in the catalog.' }),
  ),
}

const parameters = {
  simpleDate: flag('A date without a time of day.'),
  scale: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 18,
      description: 'For type decimal: number of digits after the decimal point, out of 18 digits.',
    }),
  ),
  asText: flag('For type decimal: answers contain a string instead of a number, so that clients do not round it.'),
}

export const ATTRIBUTE_SCHEMAS = {
  storage: Type.Object(
    {
      kind: Type.Optional(oneOf(['storage'])),
      type: oneOf(STORAGE_TYPES, 'Type of the values.'),
      ...common,
      indexed: flag('Keep an ordered index. The key, unique attributes and foreign keys always have one.'),
      unique: flag('No two entities may have the same value. Text is compared without regard to case and accents.'),
      mandatory: flag('The attribute must have a value; null is refused.'),
      readOnly: flag('Clients cannot set the attribute.'),
      minValue: Type.Optional(Type.Number({ description: 'Minimum value; for a duration, in milliseconds.' })),
      maxValue: Type.Optional(Type.Number({ description: 'Maximum value; for a duration, in milliseconds.' })),
      minLength: Type.Optional(Type.Integer({ minimum: 0, description: 'Minimum number of characters.' })),
      maxLength: Type.Optional(Type.Integer({ minimum: 0, description: 'Maximum number of characters.' })),
      pattern: Type.Optional(
        Type.String({
          description:
            'RE2 expression that must match the whole value. A value of more than 100,000 characters never matches.',
        }),
      ),
      choices: Type.Optional(
        Type.Array(Type.String({ maxLength: 1_000 }), {
          minItems: 1,
          maxItems: 1_000,
          uniqueItems: true,
          description: 'All values that the attribute can have, in the order in which forms offer them.',
        }),
      ),
      ...parameters,
      autoFill: Type.Optional(oneOf(AUTO_FILLS, 'How a new entity without a value for the attribute gets one.')),
      default: Type.Optional(
        Type.Unknown({
          description: 'Value for new entities that are created without one; an explicit null stays null.',
        }),
      ),
      defaultFormat: Type.Optional(
        Type.Object({ format: Type.String() }, { ...closedObject, description: 'Display format for clients.' }),
      ),
      column: Type.Optional(
        Type.Unsafe<string | readonly [string, string, ...string[]]>({
          anyOf: [
            { type: 'string', minLength: 1 },
            { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 2 },
          ],
          description:
            'In a dataclass with `storage`: column of the table, by default the name of the attribute. Several columns make up a key of type string: their values joined with ~.',
        }),
      ),
      multiLine: flag('The text can have more than one line.'),
      properties: Type.Optional(
        Type.Record(
          Type.String(),
          Type.Object(
            {
              type: oneOf(PROPERTY_TYPES),
              indexed: flag('Keep a column and an ordered index of the values of this type.'),
            },
            closedObject,
          ),
          { description: 'For type object: types and indexes of its properties, by dotted path.' },
        ),
      ),
      dimension: Type.Optional(
        Type.Integer({ minimum: 1, maximum: MAX_DIMENSION, description: 'For type vector: number of components.' }),
      ),
      metric: Type.Optional(oneOf(METRICS, 'Of a vector: the metric of its index; cosine by default.')),
      hnsw: Type.Optional(
        Type.Object(
          {
            m: Type.Optional(
              Type.Integer({
                minimum: 2,
                maximum: 100,
                description: 'Number of neighbours of each vector in the graph; 16 by default.',
              }),
            ),
            efConstruction: Type.Optional(
              Type.Integer({
                minimum: 10,
                maximum: 2000,
                description: 'Number of candidates examined when a vector is added; 100 by default.',
              }),
            ),
            ef: Type.Optional(
              Type.Integer({
                minimum: 10,
                maximum: 10_000,
                description:
                  'Number of candidates that a search examines; by default the index measures how many it needs.',
              }),
            ),
          },
          { ...closedObject, description: 'For type vector: keep an index for nearest-neighbour searches.' },
        ),
      ),
    },
    closedObject,
  ),
  relatedEntity: Type.Object(
    {
      kind: oneOf(['relatedEntity']),
      type: Type.String({ description: 'Dataclass of the related entity.' }),
      ...common,
      foreignKey: Type.String({ description: 'Attribute of this dataclass that holds the key of the related entity.' }),
      inverseName: Type.Optional(Type.String({ description: 'Name of the reverse relation in the other dataclass.' })),
      onDelete: Type.Optional(
        oneOf(
          ['restrict', 'setNull', 'cascade'],
          'What happens here when the related entity is deleted; restrict by default.',
        ),
      ),
    },
    { ...closedObject, description: 'A relation to one entity (N→1).' },
  ),
  relatedEntities: Type.Object(
    {
      kind: oneOf(['relatedEntities']),
      type: Type.String({ description: 'Collection name (or name) of the dataclass of the related entities.' }),
      ...common,
      inverseName: Type.String({ description: 'Name of the relation to one entity that this one reverses.' }),
      reversePath: Type.Optional(Type.Unsafe<true>({ type: 'boolean', enum: [true] })),
    },
    { ...closedObject, description: 'The reverse of a relation to one entity (1→N).' },
  ),
  alias: Type.Object(
    {
      kind: oneOf(['alias']),
      ...common,
      path: Type.String({ description: 'Names of relations, then the name of the attribute: `country.name`.' }),
    },
    { ...closedObject, description: 'An alias: another name for the attribute at the end of a path.' },
  ),
  calculated: Type.Object(
    {
      kind: oneOf(['calculated']),
      type: oneOf(CALCULATED_TYPES),
      ...common,
      ...parameters,
      stored: flag(
        'Computed when an entity is saved, and stored with it. Only for values that depend on nothing but attributes of the same entity.',
      ),
      indexed: flag('Keep an ordered index; only if stored.'),
      code: Type.Optional(
        Type.Object(
          { settable: Type.Boolean(), fingerprint: Type.String(), unrestricted: Type.Optional(Type.Boolean()) },
          { ...closedObject, description: 'The server fills this in from plugin code.' },
        ),
      ),
    },
    { ...closedObject, description: 'A value that plugin code computes.' },
  ),
}

/** Place of the entities of a dataclass if they are not in the store. */
const STORAGE_SCHEMA = Type.Object(
  {
    postgres: Type.String({
      minLength: 1,
      description: 'Name of the connection, in `connections` of the config file.',
    }),
    schema: Type.Optional(Type.String({ minLength: 1, description: 'Schema of the table; `public` by default.' })),
    table: Type.Optional(
      Type.String({ minLength: 1, description: 'Table or view; the name of the dataclass by default.' }),
    ),
    stamp: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Column with a whole number that grows with each change and is used as `__STAMP`; by default the number of the transaction that wrote the row.',
      }),
    ),
    timestamp: Type.Optional(
      Type.String({ minLength: 1, description: 'Column with the time of the last change, used as `__TIMESTAMP`.' }),
    ),
    readOnly: flag('Clients cannot change the entities of the dataclass.'),
    owned: flag('The server creates the table and changes it with the model. Otherwise it uses the table as it is.'),
  },
  {
    ...closedObject,
    description: 'The entities are rows of a PostgreSQL table or view instead of being in the store.',
  },
)

const dataClassSchema = <A extends TSchema, M extends TProperties>(attribute: A, more: M) =>
  Type.Object(
    {
      collectionName: Type.Optional(
        Type.String({ description: 'Name of the entity selections of the dataclass; {name}Selection by default.' }),
      ),
      formerName,
      scope: common.scope,
      tableNumber: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 65_535,
          description: 'Assigned by the server if absent. It never changes.',
        }),
      ),
      defaultTopSize: Type.Optional(
        Type.Integer({ minimum: 1, description: 'Page size if the client does not set one; 100 by default.' }),
      ),
      description: common.description,
      extraProperties: common.extraProperties,
      storage: Type.Optional(STORAGE_SCHEMA),
      ...more,
      key: Type.String({ description: 'The attribute that is the primary key.' }),
      unique: Type.Optional(
        Type.Array(Type.Array(Type.String(), { minItems: 2 }), {
          description:
            'Lists of attributes. No two entities may have the same values in all attributes of a list, unless one of the values is null.',
        }),
      ),
      attributes: Type.Record(Type.String(), attribute, {
        description: 'Attributes by name, in the order of the catalog.',
      }),
    },
    closedObject,
  )

const modelSchema = <D extends TSchema>(dataClass: D) =>
  Type.Object(
    {
      $schema: Type.Optional(Type.String()),
      name: Type.String({ minLength: 1, description: 'Name of the data store.' }),
      dataClasses: Type.Record(Type.String(), dataClass, {
        description: 'Dataclasses by name, in the order of the catalog.',
      }),
    },
    closedObject,
  )

/** Schema of the whole file, for editors (`config/model.schema.json`). */
export const MODEL_SCHEMA = modelSchema(dataClassSchema(Type.Union(Object.values(ATTRIBUTE_SCHEMAS)), {}))

/** Schemas of single levels, for the loader: it can report more about an attribute once it knows its kind. */
export const SHALLOW_MODEL_SCHEMA = modelSchema(Type.Unknown())
export const SHALLOW_DATA_CLASS_SCHEMA = dataClassSchema(Type.Unknown(), {
  // Not available in files: see `addPlaces`.
  place: Type.Optional(Type.Unsafe<Place>(Type.Object({ isStore: Type.Literal(false) }))),
})

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
