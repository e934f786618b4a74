/** Text of the data model for a model to read: short, as complete as space allows, and limited to the catalog that the caller sees. */

import { callOf, type Method, signatureOf } from './signature-text.ts'

interface Attribute {
  readonly name: string
  readonly kind: 'storage' | 'calculated' | 'alias' | 'relatedEntity' | 'relatedEntities'
  readonly type: string
  readonly path?: string
  readonly foreignKey?: string
  readonly inverseName?: string
  readonly dimension?: number
  readonly description?: string
  readonly [option: string]: unknown
}

export interface DataClass {
  readonly name: string
  readonly collectionName: string
  readonly description?: string
  readonly attributes: readonly Attribute[]
  readonly key: readonly { readonly name: string }[]
  /** Names of attributes that are unique together. */
  readonly unique?: readonly (readonly string[])[]
  readonly methods?: readonly Method[]
}

/** An answer of `$catalog`, with the declarations of functions. */
export interface CatalogText {
  readonly dataClasses: readonly DataClass[]
  /** Functions of the datastore. */
  readonly methods?: readonly Method[]
  readonly singletons?: readonly { readonly name: string; readonly methods: readonly Method[] }[]
}

/** Maximum estimated tokens of an overview; the tokenizers of models count at most 2,000. */
const MAX_TOKENS = 1_800
/** Estimate of a token: a piece of some four characters in English, a shorter one in other languages and in abbreviations. */
const PIECE = /[A-Z]?[a-z]{1,5}|[A-Z]{1,2}|\d{1,3}|[^\0-\x7f]|[^\sA-Za-z\d]{1,2}|\n/g

/** Estimated number of tokens: at least 0.95 of `o200k` and `cl100k` for names in English, German, French and abbreviations, 0.83 for Japanese. */
function tokensOf(text: string): number {
  let count = 0
  for (PIECE.lastIndex = 0; PIECE.test(text); ) count++
  return count
}

const LEGEND =
  'Class(key): attributes, texts where no type stands; a>B one related B, a>>B several; f() functions, f()! those that may write'

type Line = (dataClass: DataClass, classOf: (type: string) => string) => string

/** Formats of the lines of an overview, the most detailed first. */
const LINES: readonly Line[] = [
  (each, classOf) => lineOf(each, [...each.attributes.map(a => withType(a, classOf)), ...functionsOf(each)]),
  (each, classOf) =>
    lineOf(each, [...each.attributes.map(a => relationText(a, classOf) ?? a.name), ...functionsOf(each)]),
  (each, classOf) => lineOf(each, [`${each.attributes.length} attributes`, ...relationsOf(each, classOf)]),
  (each, classOf) =>
    lineOf(
      each,
      relationsOf(each, classOf).filter(text => !text.includes('>>')),
    ),
  each => each.name,
]

/** Overview of all classes, in the most detailed format that fits. @param match part of the names of the classes to show */
export function overviewOf({ dataClasses, methods = [], singletons = [] }: CatalogText, match?: string): string {
  const word = match?.toLowerCase()
  const has = (name: string): boolean => word === undefined || name.toLowerCase().includes(word)
  const matchedClasses = dataClasses.filter(
    ({ name, attributes }) => has(name) || attributes.some(each => has(each.name)),
  )
  const classOf = classesByCollection(dataClasses)
  const title = `${matchedClasses.length} of ${dataClasses.length} classes. ${LEGEND}`
  const textOf = (line: Line, functionOf: (method: Method) => string): string => {
    const ofStore = methods.map(each => `datastore: ${functionOf(each)}`)
    const ofSingletons = singletons.flatMap(({ name, methods }) =>
      methods.map(each => `singleton ${name}: ${functionOf(each)}`),
    )
    return [title, ...ofStore, ...ofSingletons, ...matchedClasses.map(each => line(each, classOf))].join('\n')
  }
  const fullText = textOf(LINES[0]!, signatureOf)
  if (tokensOf(fullText) <= MAX_TOKENS) return fullText
  const texts = LINES.map(line => textOf(line, callOf))
  const fittingText = texts.find(text => tokensOf(text) <= MAX_TOKENS) ?? texts.at(-1)!
  return shorten(`${fittingText}\nThis is not all: describe some classes by name, or use match.`)
}

function shorten(text: string): string {
  const tokens = tokensOf(text)
  if (tokens <= MAX_TOKENS) return text
  const room = text.slice(0, Math.floor((text.length * (MAX_TOKENS - 20)) / tokens))
  return `${room.slice(0, room.lastIndexOf('\n'))}\n… and others: use match, a part of their names.`
}

/** Full description of some classes. */
export const detailOf = ({ dataClasses }: CatalogText): string => dataClasses.map(describeClass).join('\n\n')

function describeClass({ name, description, key, unique = [], attributes, methods = [] }: DataClass): string {
  const lines = attributes.map(each => `${each.name}: ${facts(each).join(', ')}${remark(each.description)}`)
  const together = unique.map(names => `, unique together: ${names.join(' + ')}`).join('')
  const title = `${name}, key ${key.map(each => each.name).join()}${together}${remark(description)}`
  return [title, ...lines, ...methods.map(signatureOf)].join('\n')
}

const remark = (description?: string): string =>
  description === undefined ? '' : `; ${description.replace(/\s+/g, ' ')}`

/** Options that are shown with their value. */
const VALUED = ['minValue', 'maxValue', 'minLength', 'maxLength', 'pattern', 'scale', 'dimension']
const FLAGS = ['unique', 'indexed', 'mandatory', 'readOnly', 'autosequence', 'simpleDate', 'asText']

function facts(attribute: Attribute): string[] {
  const { kind, type, path, foreignKey, inverseName } = attribute
  const options = [
    ...FLAGS.filter(name => attribute[name] === true),
    ...VALUED.flatMap(name => (attribute[name] === undefined ? [] : `${name} ${attribute[name]}`)),
    ...(Array.isArray(attribute.choices) ? [`one of ${JSON.stringify(attribute.choices)}`] : []),
    ...(attribute.default === undefined ? [] : [`default ${JSON.stringify(attribute.default)}`]),
  ]
  switch (kind) {
    case 'relatedEntity':
      return [
        `one ${type}`,
        ...(foreignKey ? [`by ${foreignKey}`] : []),
        ...(inverseName ? [`back: ${inverseName}`] : []),
      ]
    case 'relatedEntities':
      return [`several, ${type}`, ...(inverseName ? [`back: ${inverseName}`] : [])]
    case 'alias':
      return [typeOf(attribute), path ? `alias of ${path}` : 'alias', ...options]
    case 'calculated':
      return [typeOf(attribute), 'calculated', ...options]
    case 'storage':
      return [typeOf(attribute), ...options]
  }
}

const lineOf = ({ name, key }: DataClass, parts: readonly string[]): string =>
  `${name}(${key.map(each => each.name).join()})${parts.length > 0 ? `: ${parts.join(', ')}` : ''}`

const relationsOf = ({ attributes }: DataClass, classOf: (type: string) => string): string[] =>
  attributes.flatMap(each => relationText(each, classOf) ?? [])

function relationText({ name, kind, type }: Attribute, classOf: (type: string) => string): string | undefined {
  if (kind === 'relatedEntity') return `${name}>${type}`
  return kind === 'relatedEntities' ? `${name}>>${classOf(type)}` : undefined
}

function withType(attribute: Attribute, classOf: (type: string) => string): string {
  const { name, type } = attribute
  return relationText(attribute, classOf) ?? (type === 'string' ? name : `${name} ${typeOf(attribute)}`)
}

const typeOf = ({ type, dimension, scale }: Attribute): string =>
  dimension ? 'vector' : type === 'duration' ? 'duration ms' : scale === undefined ? type : 'decimal'

const functionsOf = ({ methods = [] }: DataClass): string[] => methods.map(callOf)

function classesByCollection(dataClasses: readonly DataClass[]): (type: string) => string {
  const names = new Map(dataClasses.map(({ name, collectionName }) => [collectionName, name]))
  return type => names.get(type) ?? type
}
