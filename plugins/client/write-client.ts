import { commentOf, nameText, stringText } from '../../engine/index.ts'
import type { DeclaredParameter } from '../../kernel/api.ts'
import type { AttributeDescription, ClassDescription, VisibleModel } from './visible-model.ts'
import { block, partOfIdentifier, unionOf } from './text.ts'
import { writeFunctions } from './write-functions.ts'

export interface WriteOptions {
  /** Origin of the model, for the first line. */
  readonly source: string
  /** JavaScript form of a date with a time. */
  readonly dates: 'date' | 'text'
  /** Source text of the runtime; undefined if it is imported from `tesser/client`. */
  readonly runtime: string | undefined
}

/** The file `client.ts`: types of a model, and the runtime. */
export function writeClient(model: VisibleModel, { source, dates, runtime }: WriteOptions): string {
  const relations = new Relations(model.dataClasses)
  const shows = (name: string): boolean => model.dataClasses.some(each => each.name === name)
  const shapes = model.dataClasses.map(each => writeShape(each, relations, dates, shows))
  const singletons = [...model.singletons].map(([name, all]) => `${nameText(name)}: ${writeFunctions(all, shows)}`)
  return `${HEAD(source)}${runtime === undefined ? IMPORTS : ''}
/**
 * A client of the server at \`url\`, such as \`http://127.0.0.1:8080/rest\`, or \`/rest\` in a page of the same server. With the module of
 * its classes as type argument, \`createClient<typeof import('./classes.ts')>\`, functions have the types of their methods.
 */
export const createClient = <Classes = unknown>(url: string | URL, options?: ClientOptions): Client<Database<Classes>> =>
  connect<Database<Classes>>(url, schema, options)

/** An entity: \`Entity<'City'>\`, or with the attributes of a list, \`Entity<'City', 'name' | 'country.name'>\`. */
export type Entity<Name extends keyof Model, Paths extends string = '*'> = Row<Model[Name], Paths>

export interface Model ${block(model.dataClasses.map(({ name }) => `${nameText(name)}: ${shapeName(name)}`))}

export interface Database<Classes = unknown> {
  readonly model: Model
  readonly services: {
    readonly dataStore: ${indent(writeFunctions(model.dataStore, shows))}
    readonly singletons: ${indent(block(singletons))}
  }
  readonly classes: Classes
  readonly parameters: ${indent(block(model.parameters.map(writeParameter)))}
}

${shapes.join('\n')}
export const schema: Schema = ${JSON.stringify(schemaOf(model, dates))} as const
${runtime ?? ''}`
}

const writeParameter = ({ name, doc, schema }: DeclaredParameter): string =>
  `${commentOf(doc)}readonly ${nameText(name)}?: ${typeOf(schema)}`

function typeOf({ type, enum: words }: DeclaredParameter['schema']): string {
  if (Array.isArray(words)) return unionOf(words.map(word => stringText(String(word))))
  return type === 'boolean' ? 'boolean' : type === 'integer' || type === 'number' ? 'number' : 'string'
}

/** Kinds of the attributes that JSON cannot represent as they are, by dataclass: all that the runtime knows of a model. */
export function schemaOf({ dataClasses }: VisibleModel, dates: 'date' | 'text'): object {
  const relations = new Relations(dataClasses)
  const kinds = (dataClass: ClassDescription): object =>
    Object.fromEntries(
      dataClass.attributes.flatMap(attribute => {
        const kind = kindOf(attribute, relations)
        return kind === undefined ? [] : [[attribute.name, kind]]
      }),
    )
  return { dates, classes: Object.fromEntries(dataClasses.map(each => [each.name, kinds(each)])) }
}

const HEAD = (source: string): string =>
  `/* eslint-disable */\n// Written by "tesser client" from ${source.replace(/\s+/g, ' ')}. Do not edit it, run the command again.\n`

const IMPORTS = `import {
  type BinaryLink, type Client, type ClientOptions, connect, type Declared, type EntityArgument, type EntityResult, type Json,
  type Reference, type Row, type Schema, type SelectionArgument, type SelectionResult, type StreamResult, type Upload,
} from 'tesser/client'
export * from 'tesser/client'
`

const indent = (text: string): string => text.replaceAll('\n', '\n    ')
/** Name of the shape of a dataclass. Names of dataclasses have no `$`, so it cannot collide with a name of the language or the runtime. */
const shapeName = (dataClass: string): string => `$${partOfIdentifier(dataClass)}`

/** Dataclasses that relations and aliases lead to. */
class Relations {
  readonly #one: ReadonlySet<string>
  readonly #many: ReadonlyMap<string, string>

  constructor(dataClasses: readonly ClassDescription[]) {
    this.#one = new Set(dataClasses.map(({ name }) => name))
    this.#many = new Map(dataClasses.map(({ name, collectionName }) => [collectionName, name]))
  }

  /** @returns undefined if the attribute has a value */
  of({ kind, type }: AttributeDescription): { readonly target: string; readonly isMany: boolean } | undefined {
    if (kind !== 'alias' && kind !== 'relatedEntity' && kind !== 'relatedEntities') return undefined
    const target = this.#many.get(type)
    if (target !== undefined) return { target, isMany: true }
    return this.#one.has(type) ? { target: type, isMany: false } : undefined
  }
}

function kindOf(attribute: AttributeDescription, relations: Relations): string | number | undefined {
  const relation = relations.of(attribute)
  if (relation) return `${relation.isMany ? 'many' : 'one'} ${relation.target}`
  const { type, scale, simpleDate } = attribute
  if (scale !== undefined) return scale
  if (type === 'date') return simpleDate ? 'day' : 'date'
  if (type === 'long64' || type === 'image' || type === 'blob') return type
  // In the answer to a save, `uri` is the address of the entity.
  return attribute.name === 'uri' ? 'plain' : undefined
}

function writeShape(
  dataClass: VisibleModel['dataClasses'][number],
  relations: Relations,
  dates: 'date' | 'text',
  shows: (dataClass: string) => boolean,
): string {
  const { name, attributes, functions } = dataClass
  const relatedAttributes = attributes.flatMap(attribute => {
    const relation = relations.of(attribute)
    return relation ? [{ attribute, ...relation }] : []
  })
  const many = relatedAttributes.filter(({ isMany }) => isMany).map(({ attribute }) => attribute)
  const read = attributes.filter(each => !many.includes(each))
  const writableAttributes = read.filter(({ readOnly, kind }) => !readOnly && kind !== 'alias')
  const foreignKeys = new Set(attributes.map(({ foreignKey }) => foreignKey))
  const needs = writableAttributes.filter(({ mandatory, name }) => mandatory && !foreignKeys.has(name))
  const vectors = attributes.filter(({ dimension }) => dimension !== undefined)
  const objects = attributes.filter(({ type, dimension }) => type === 'object' && dimension === undefined)
  const ownNames = [...read.map(each => each.name), '*', ...(vectors.length > 0 ? ['__SCORE'] : [])]
  const keyName = dataClass.key[0]!.name
  const key = attributes.find(each => each.name === keyName)
  return `${commentOf(dataClass.description)}export interface ${shapeName(name)} ${block([
    `name: ${stringText(name)}`,
    `key: ${key ? keyType(key) : 'string | number | bigint'}`,
    `values: ${block([
      ...HEAD_VALUES,
      ...(vectors.length > 0 ? ['readonly __SCORE: number | null'] : []),
      ...read.map(each => `${commentOf(each.description)}${nameText(each.name)}: ${readType(each, relations, dates)}`),
    ])}`,
    `own: ${unionOf(ownNames.map(stringText))}`,
    `near: ${unionOf([`${shapeName(name)}['own']`, ...relatedAttributes.map(behind)])}`,
    `inside: ${unionOf(objects.map(each => `\`${each.name}.\${string}\``))}`,
    `to: ${block(relatedAttributes.map(({ attribute, target }) => `${nameText(attribute.name)}: ${shapeName(target)}`))}`,
    `many: ${unionOf(many.map(each => stringText(each.name)))}`,
    `input: ${block(writableAttributes.map(each => `${commentOf(each.description)}${nameText(each.name)}?: ${writtenType(each, relations)}`))}`,
    `needs: ${unionOf(needs.map(each => stringText(each.name)))}`,
    `functions: ${block(Object.entries(functions).map(([kind, all]) => `${kind}: ${writeFunctions(all, shows)}`))}`,
  ])}\n`
}

const behind = ({ attribute, target }: { attribute: AttributeDescription; target: string }): string =>
  `\`${attribute.name}.\${${shapeName(target)}['own']}\``

const HEAD_VALUES = ['readonly __KEY: string', 'readonly __STAMP: number', 'readonly __TIMESTAMP: string']

function keyType(attribute: AttributeDescription): string {
  const type = valueType(attribute, 'text')
  // `__KEY` is a string, whatever the type of the key.
  return unionOf([...type.split(' | '), 'string'])
}

function readType(attribute: AttributeDescription, relations: Relations, dates: 'date' | 'text'): string {
  if (relations.of(attribute)) return 'Reference | null'
  const isNeverNull = attribute.identifying || attribute.mandatory
  return `${valueType(attribute, dates)}${isNeverNull ? '' : ' | null'}`
}

function writtenType(attribute: AttributeDescription, relations: Relations): string {
  const orNull = attribute.mandatory ? '' : ' | null'
  if (relations.of(attribute)) return `Reference | string | number${orNull}`
  return `${assignedType(attribute)}${orNull}`
}

function valueType(
  { type, scale, dimension, simpleDate, choices }: AttributeDescription,
  dates: 'date' | 'text',
): string {
  if (choices) return unionOf(choices.map(stringText))
  if (dimension !== undefined) return 'number[]'
  if (scale !== undefined) return 'string'
  switch (type) {
    case 'string':
    case 'uuid':
      return 'string'
    case 'bool':
      return 'boolean'
    case 'date':
      return dates === 'date' && !simpleDate ? 'Date' : 'string'
    case 'long64':
      return 'number | bigint'
    case 'object':
      return 'Json'
    case 'image':
    case 'blob':
      return 'BinaryLink'
    default:
      return NUMBERS.has(type) ? 'number' : 'unknown'
  }
}

/** Type of an assigned value, wider than that of a value that is read. */
function assignedType(attribute: AttributeDescription): string {
  const { type, scale, dimension } = attribute
  if (dimension !== undefined) return 'readonly number[] | Float32Array'
  if (scale !== undefined) return 'string | number | bigint'
  if (type === 'date') return 'Date | string'
  if (type === 'long64') return 'number | bigint | string'
  if (type === 'image' || type === 'blob') return 'Upload | BinaryLink'
  return valueType(attribute, 'text')
}

const NUMBERS = new Set(['byte', 'word', 'long', 'number', 'float', 'duration'])
