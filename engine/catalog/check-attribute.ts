import { compileRe2 } from '../base/re2.ts'
import { suggestion } from '../base/suggestion.ts'
import type { CheckedDataClass, DataClasses } from './checked-dataclass.ts'
import { defaultProblems } from './check-default.ts'
import {
  type AliasModel,
  type AttributeModel,
  type CalculatedModel,
  type RelatedEntitiesModel,
  type RelatedEntityModel,
  type StorageModel,
  TYPES_OF_OPTION,
  typesOfAutoFill,
} from './model-schema.ts'
import { parametersOf, typeName } from './types/parameters.ts'
import { TYPES } from './types/registry.ts'
import { isScalarType } from './value-type.ts'

/**
 * Checks an attribute whose shape is valid, alone and against the names that it uses.
 * @returns problems, to be appended to the attribute's path in the file: each starts with `.option: ` or `: `
 */
export function checkAttribute(
  name: string,
  attribute: AttributeModel,
  dataClass: CheckedDataClass,
  dataClasses: DataClasses,
): string[] {
  switch (attribute.kind) {
    case 'relatedEntity':
      return relatedEntityProblems(name, attribute, dataClass, dataClasses)
    case 'relatedEntities':
      return relatedEntitiesProblems(name, attribute, dataClass, dataClasses)
    case 'alias':
      return aliasProblems(name, attribute, dataClass, dataClasses)
    case 'calculated':
      return calculatedProblems(attribute)
    default:
      return storageProblems(name, attribute, dataClass)
  }
}

/** Problems of options that do not fit the type, and of missing ones that it needs. */
function optionProblems(attribute: StorageModel | CalculatedModel): string[] {
  const { type } = attribute
  const problems: string[] = []
  for (const [option, value] of Object.entries(attribute)) {
    const types = TYPES_OF_OPTION.get(option)
    // `false` means the same as no option, except as a default.
    if (types && (value !== false || option === 'default') && !types.includes(type)) {
      problems.push(`.${option}: does not fit type ${type}; it is for ${types.join(', ')}`)
    }
  }
  for (const [option, reason] of Object.entries(TYPES[type].needs ?? {})) {
    if (!(option in attribute)) problems.push(`.${option}: is missing; ${reason}`)
  }
  return problems
}

function storageProblems(name: string, attribute: StorageModel, dataClass: CheckedDataClass): string[] {
  const problems = optionProblems(attribute)
  const {
    autoFill,
    minValue = -Infinity,
    maxValue = Infinity,
    minLength = 0,
    maxLength = Infinity,
    pattern,
  } = attribute
  if (autoFill && !TYPES[attribute.type].autoFill.includes(autoFill)) {
    const types = typesOfAutoFill(autoFill).join(', ')
    problems.push(`.autoFill: "${autoFill}" does not fit type ${attribute.type}; it is for ${types}`)
  }
  if (minValue > maxValue) problems.push(`.minValue: ${minValue} is above maxValue, which is ${maxValue}`)
  if (minLength > maxLength) problems.push(`.minLength: ${minLength} is above maxLength, which is ${maxLength}`)
  if (pattern !== undefined) {
    try {
      compileRe2(pattern)
    } catch (error) {
      problems.push(
        `.pattern: is not an RE2 expression (no look-around, no back-references): ${(error as Error).message}`,
      )
    }
  }
  for (const path of Object.keys(attribute.properties ?? {})) {
    if (path.split('.').some(step => step === '' || step.includes('['))) {
      problems.push(`.properties.${path}: is not a path of properties such as "address.city"`)
    }
  }
  // A default cannot be checked against invalid limits.
  return problems.length > 0 ? problems : defaultProblems(name, attribute, dataClass)
}

function calculatedProblems(attribute: CalculatedModel): string[] {
  const { type, stored, indexed } = attribute
  const problems = optionProblems(attribute)
  if (indexed && !stored) problems.push('.indexed: only a stored attribute has an index; add "stored": true')
  if (stored && (type === 'image' || type === 'blob')) {
    problems.push(`.stored: does not fit type ${type}; it is for scalars and objects`)
  }
  return problems
}

function relatedEntityProblems(
  name: string,
  { type, foreignKey, inverseName, onDelete }: RelatedEntityModel,
  { name: className, model, attributes }: CheckedDataClass,
  dataClasses: DataClasses,
): string[] {
  const problems: string[] = []
  const key = attributes.get(foreignKey)
  const storage = key && isStorage(key) ? key : undefined
  if (!attributes.has(foreignKey)) {
    problems.push(
      `.foreignKey: there is no attribute "${foreignKey}" in ${className}${suggestion(foreignKey, attributes.keys())}`,
    )
  } else if (key && !storage) {
    problems.push(`.foreignKey: "${foreignKey}" is a ${key.kind} attribute; a foreign key is a storage attribute`)
  }
  for (const [other, attribute] of attributes) {
    if (other === name) break
    if (attribute?.kind === 'relatedEntity' && attribute.foreignKey === foreignKey) {
      problems.push(`.foreignKey: "${foreignKey}" already belongs to relation "${other}"; each needs one of its own`)
    }
  }
  if (onDelete === 'setNull' && (storage?.mandatory || model.key === foreignKey)) {
    problems.push(
      `.onDelete: "setNull" cannot be done while "${foreignKey}" must not be null; use "restrict" or "cascade"`,
    )
  }
  if (!dataClasses.has(type)) {
    return [...problems, `.type: there is no dataclass "${type}"${suggestion(type, dataClasses.keys())}`]
  }
  const target = dataClasses.get(type)
  if (!target) return problems

  const targetKey = target.attributes.get(target.model.key)
  const targetStorage = targetKey && isStorage(targetKey) ? targetKey : undefined
  // A key whose type is not allowed for keys is reported where it is declared.
  if (storage && targetStorage && isScalarType(targetStorage.type) && familyOf(storage) !== familyOf(targetStorage)) {
    const [ownType, targetType] = [storage, targetStorage].map(each =>
      typeName({ type: each.type, ...parametersOf(each) }),
    )
    problems.push(
      `.foreignKey: "${foreignKey}" has type ${ownType}, but the key of ${type}, "${target.model.key}", has type ${targetType}`,
    )
  }
  if (inverseName === undefined) return problems
  const inverse = target.attributes.get(inverseName)
  const candidates = [...target.attributes]
    .filter(([, a]) => a?.kind === 'relatedEntities')
    .map(([candidate]) => candidate)
  if (!target.attributes.has(inverseName)) {
    problems.push(
      `.inverseName: there is no attribute "${inverseName}" in ${type}${suggestion(inverseName, candidates)}`,
    )
  } else if (inverse && inverse.kind !== 'relatedEntities') {
    problems.push(
      `.inverseName: "${inverseName}" of ${type} is a ${inverse.kind ?? 'storage'} attribute, not relatedEntities`,
    )
  } else if (inverse?.kind === 'relatedEntities' && !reverses(inverse, name, className, dataClasses)) {
    problems.push(
      `.inverseName: "${inverseName}" of ${type} reverses "${inverse.inverseName}" of ${inverse.type}, not "${name}" of ${className}`,
    )
  }
  return problems
}

const isStorage = (attribute: AttributeModel): attribute is StorageModel =>
  attribute.kind === undefined || attribute.kind === 'storage'
const familyOf = (attribute: StorageModel): string | undefined =>
  isScalarType(attribute.type) ? TYPES[attribute.type].keyFamily(parametersOf(attribute)) : undefined

function relatedEntitiesProblems(
  name: string,
  { type, inverseName }: RelatedEntitiesModel,
  { name: className, attributes }: CheckedDataClass,
  dataClasses: DataClasses,
): string[] {
  const problems: string[] = []
  for (const [other, attribute] of attributes) {
    if (other === name) break
    if (attribute?.kind === 'relatedEntities' && attribute.type === type && attribute.inverseName === inverseName) {
      problems.push(`.inverseName: "${inverseName}" of ${type} is reversed by "${other}" already`)
    }
  }
  const targetName = dataClassOfCollection(type, dataClasses)
  if (targetName === undefined) {
    const collectionNames = [...dataClasses].flatMap(([dataClass, checkedClass]) => [
      checkedClass?.model.collectionName ?? `${dataClass}Selection`,
    ])
    return [...problems, `.type: there is no collection "${type}"${suggestion(type, collectionNames)}`]
  }
  const target = dataClasses.get(targetName)
  if (!target) return problems

  const inverse = target.attributes.get(inverseName)
  const candidates = [...target.attributes]
    .filter(([, a]) => a?.kind === 'relatedEntity')
    .map(([candidate]) => candidate)
  if (!target.attributes.has(inverseName)) {
    problems.push(
      `.inverseName: there is no attribute "${inverseName}" in ${targetName}${suggestion(inverseName, candidates)}`,
    )
  } else if (inverse && inverse.kind !== 'relatedEntity') {
    problems.push(
      `.inverseName: "${inverseName}" of ${targetName} is a ${inverse.kind ?? 'storage'} attribute, not relatedEntity`,
    )
  } else if (inverse?.kind === 'relatedEntity' && inverse.type !== className) {
    problems.push(`.inverseName: "${inverseName}" of ${targetName} leads to ${inverse.type}, not to ${className}`)
  } else if (inverse?.kind === 'relatedEntity' && inverse.inverseName !== undefined && inverse.inverseName !== name) {
    problems.push(
      `.inverseName: "${inverseName}" of ${targetName} names "${inverse.inverseName}" as its inverse, not "${name}"`,
    )
  }
  return problems
}

function reverses(relation: RelatedEntitiesModel, name: string, className: string, dataClasses: DataClasses): boolean {
  return relation.inverseName === name && dataClassOfCollection(relation.type, dataClasses) === className
}

/** Name of the dataclass to which the type of a 1→N relation refers, by dataclass name or collection name. */
function dataClassOfCollection(type: string, dataClasses: DataClasses): string | undefined {
  if (dataClasses.has(type)) return type
  for (const [name, dataClass] of dataClasses) {
    if (type === (dataClass?.model.collectionName ?? `${name}Selection`)) return name
  }
  return undefined
}

function aliasProblems(
  name: string,
  { path }: AliasModel,
  dataClass: CheckedDataClass,
  dataClasses: DataClasses,
): string[] {
  const end = endOfPath(path, dataClass, dataClasses, [`${dataClass.name}.${name}`])
  if (typeof end === 'string') return [`.path: ${end}`]
  if (end?.throughMany && end.target.kind !== 'relatedEntity' && end.target.kind !== 'relatedEntities') {
    return [
      `.path: "${path}" has many values for one entity; through relatedEntities an alias can only name a relation`,
    ]
  }
  return []
}

interface EndOfPath {
  target: Exclude<AttributeModel, AliasModel>
  /** True if a relation before the end leads to many entities. */
  throughMany: boolean
}

/**
 * End of a path; the problem as a text if it leads nowhere; undefined if it reaches an attribute that has already been reported.
 * @param visitedAliases aliases followed so far, beginning with the one that is checked
 */
function endOfPath(
  path: string,
  start: CheckedDataClass,
  dataClasses: DataClasses,
  visitedAliases: readonly string[],
): EndOfPath | string | undefined {
  let dataClass = start
  let throughMany = false
  let target: EndOfPath['target'] | undefined
  for (const step of path.split('.')) {
    if (target) {
      if (target.kind !== 'relatedEntity' && target.kind !== 'relatedEntities') {
        return `"${path}" continues after a ${target.kind ?? 'storage'} attribute; only relations can be followed`
      }
      const next = dataClasses.get(dataClassOfCollection(target.type, dataClasses) ?? '')
      if (!next) return undefined
      throughMany ||= target.kind === 'relatedEntities'
      dataClass = next
    }
    if (!dataClass.attributes.has(step)) {
      return `there is no attribute "${step}" in ${dataClass.name}${suggestion(step, dataClass.attributes.keys())}`
    }
    const attribute = dataClass.attributes.get(step)
    if (!attribute) return undefined
    if (attribute.kind !== 'alias') {
      target = attribute
      continue
    }
    const id = `${dataClass.name}.${step}`
    if (visitedAliases.includes(id)) return `leads in a circle: ${[...visitedAliases, id].join(' → ')}`
    const end = endOfPath(attribute.path, dataClass, dataClasses, [...visitedAliases, id])
    // Other problems of that alias are reported there, but a circle is reported for every alias in it.
    if (typeof end === 'string') return end.startsWith('leads in a circle') ? end : undefined
    if (!end) return undefined
    throughMany ||= end.throughMany
    target = end.target
  }
  return target && { target, throughMany }
}
