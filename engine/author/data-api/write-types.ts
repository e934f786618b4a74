import { commentOf, nameText, stringText } from '../../base/text/source-text.ts'
import { TYPES } from '../../catalog/types/registry.ts'
import type { AliasAttribute, Attribute } from '../../catalog/attribute.ts'
import type { StorageType } from '../../catalog/value-type.ts'
import { isRelation } from '../../catalog/attribute.ts'
import type { Catalog, DataClass } from '../../catalog/dataclass.ts'

/**
 * The `.d.ts` that declares a model for `tesser/classes`, so that names that the model does not have do not compile.
 * @param source origin of the model, for the first line
 */
export function writeTypes(catalog: Catalog, source: string): string {
  return `// Written by "tesser types" from ${source.replaceAll('\n', ' ')}. Do not edit it, run the command again.
import type { Binary, EntityOf, SelectionOf } from 'tesser/classes'

declare module 'tesser/classes' {
  interface Model {
${catalog.dataClasses.map(writeDataClass).join('\n')}
  }
}
`
}

function writeDataClass(dataClass: DataClass): string {
  const { attributes, key } = dataClass
  const isCalculated = (attribute: Attribute): boolean =>
    attribute.kind === 'calculated' || (attribute.kind === 'storage' && attribute.calculation !== undefined)
  const relations = attributes
    .filter(isRelation)
    .map(({ name, target }) => `${nameText(name)}: ${stringText(target.name)}`)
  const durations = attributes.filter(attribute => attribute.kind === 'storage' && attribute.type === 'duration')
  return `${commentOf(dataClass.description)}${block(nameText(dataClass.name), [
    `key: ${TYPES[key.type].code.value}`,
    block('attributes', attributes.filter(attribute => !isCalculated(attribute)).map(writeAttribute)),
    block('calculated', attributes.filter(isCalculated).map(writeAttribute)),
    block('relations', relations),
    // Attributes with numbers that a query may also give as strings.
    ...(durations.length > 0 ? [`durations: ${durations.map(({ name }) => stringText(name)).join(' | ')}`] : []),
  ])}`
    .split('\n')
    .map(line => `    ${line}`)
    .join('\n')
}

function block(name: string, members: readonly string[]): string {
  if (members.length === 0) return `${name}: {}`
  const lines = members.flatMap(member => member.split('\n'))
  return `${name}: {\n${lines.map(line => `  ${line}`).join('\n')}\n}`
}

const writeAttribute = (attribute: Attribute): string => `${commentOf(attribute.description)}${writeMembers(attribute)}`

function writeMembers(attribute: Attribute): string {
  const name = nameText(attribute.name)
  switch (attribute.kind) {
    case 'storage': {
      const isNeverNull = attribute.mandatory || attribute === attribute.dataClass.key
      return writeValue(name, attribute.type, isNeverNull ? '' : ' | null')
    }
    case 'calculated':
      return writeValue(name, attribute.type, ' | null')
    case 'relatedEntity':
      return `${name}: EntityOf<${stringText(attribute.target.name)}> | null`
    case 'relatedEntities':
      return `readonly ${name}: SelectionOf<${stringText(attribute.target.name)}>`
    case 'alias':
      return writeAlias(name, attribute)
  }
}

/** Writes a property, with accessors if more types can be assigned than are read. */
function writeValue(name: string, type: StorageType, orNull: string): string {
  const { value, assigned } = TYPES[type].code
  return assigned
    ? `get ${name}(): ${value}${orNull}\nset ${name}(value: ${assigned} | null)`
    : `${name}: ${value}${orNull}`
}

function writeAlias(name: string, { relations, target }: AliasAttribute): string {
  const isOwn = relations.length === 0 && target.kind === 'storage'
  if (isOwn) return writeValue(name, target.type, ' | null')
  const isMany = relations.some(({ kind }) => kind === 'relatedEntities')
  if (isRelation(target)) {
    const of = `<${stringText(target.target.name)}>`
    const isSelection = isMany || target.kind === 'relatedEntities'
    return `readonly ${name}: ${isSelection ? `SelectionOf${of}` : `EntityOf${of} | null`}`
  }
  const value = `${TYPES[target.type].code.value} | null`
  return `readonly ${name}: ${isMany ? `(${value})[]` : value}`
}
