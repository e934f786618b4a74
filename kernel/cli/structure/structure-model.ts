import type { XmlElement } from '@rgrove/parse-xml'
import { freeName } from '../../../engine/base/text/free-name.ts'
import {
  type Addition,
  attributeWith,
  type DraftAttribute,
  type DraftClass,
  type DraftModel,
  grow,
  isReserved,
  modelProblems,
  type OnLeft,
  relationOf,
  usable,
} from '../draft-model.ts'
import { type Field, type Relation, readStructure, type Structure, type Table } from './read-structure.ts'

/**
 * Model of a structure of 4D. Names that a model cannot have are changed: blanks and other characters become `_`.
 * @param root element `base` of a `.4DCatalog` file
 * @param onNote called with a sentence for each thing that differs or is left out
 * @throws {Error} it is not a structure of 4D, or no table can be used
 */
export function structureModel(root: XmlElement, onNote: (note: string) => void): DraftModel {
  const structure = readStructure(root)
  const onLeft: OnLeft = (subject, reason) => onNote(`${subject} is left out: ${reason}`)
  const names = new Names(onNote)
  const dataClasses: Record<string, DraftClass> = {}
  for (const table of structure.tables) {
    const name = names.ofTable(table)
    const dataClass = dataClassOf(table, name, names, structure, onLeft, onNote)
    if (!dataClass) continue
    const [problem] = modelProblems({ name: structure.name, dataClasses: { ...dataClasses, [name]: dataClass } })
    if (problem === undefined) dataClasses[name] = dataClass
    else onLeft(name, problem)
  }
  if (Object.keys(dataClasses).length === 0) throw new Error('no table of the structure can be a dataclass')
  const model = { name: structure.name, dataClasses }
  const additions = structure.relations.flatMap(each => relation(each, model, names, onLeft) ?? [])
  return grow(model, additions, onLeft)
}

function dataClassOf(
  table: Table,
  name: string,
  names: Names,
  { indexes }: Structure,
  onLeft: OnLeft,
  onNote: (note: string) => void,
): DraftClass | undefined {
  if (table.isTrashed || isReserved(name, name, onLeft)) return undefined
  const [keyId, ...others] = table.key
  const key = table.fields.find(({ id }) => id === keyId)
  if (!key || others.length > 0) {
    onLeft(name, `a dataclass needs a primary key of one field, and it has ${key ? 'a key of several fields' : 'none'}`)
    return undefined
  }
  const attributes: Record<string, DraftAttribute> = {}
  let hasIncrement = false
  for (const field of table.fields) {
    // Tesser itself tracks changes and deletions.
    if (field.name === '__GlobalStamp') continue
    const isKey = field === key
    const attributeName = names.ofField(table, field)
    const attribute = attributeOf(field, isKey, indexes)
    if (typeof attribute === 'string') {
      onLeft(`${name}.${attributeName}`, attribute)
      continue
    }
    if (field.isVector)
      onNote(`${name}.${attributeName} has vectors: to search by them, give it the type "vector" and their "dimension"`)
    if (hasIncrement && attribute.autoFill === 'increment') {
      onLeft(`${name}.${attributeName}: its sequence`, 'a dataclass can have only one numbered attribute')
      delete attribute.autoFill
    }
    hasIncrement ||= attribute.autoFill === 'increment'
    if (isKey && !table.isHidden) delete attribute.scope
    const fit = usable(name, attributeName, attribute, onLeft)
    if (fit) attributes[attributeName] = fit
  }
  for (const { table: owner, fields } of indexes) {
    const indexedNames = fields.map(id => table.fields.find(field => field.id === id)?.name)
    if (owner === table.id && fields.length > 1)
      onNote(`${name} has an index over ${indexedNames.join(', ')}; only indexes of one field are kept`)
  }
  return { key: names.ofField(table, key), ...(table.isHidden && { scope: 'private' }), attributes }
}

/** @returns a reason if there is no such attribute */
function attributeOf(field: Field, isKey: boolean, indexes: Structure['indexes']): DraftAttribute | string {
  const type = field.isUuid ? 'uuid' : TYPES.get(field.type)
  if (type === undefined) return `${field.type} is not a known type of field`
  const isScalar = !['blob', 'image', 'object'].includes(type)
  const fieldIndexes = indexes.filter(({ fields }) => fields.length === 1 && fields[0] === field.id)
  const isUnique = !isKey && isScalar && (field.isUnique || fieldIndexes.some(index => index.isUnique))
  return attributeWith({
    type,
    simpleDate: type === 'date',
    indexed: !isKey && !isUnique && isScalar && fieldIndexes.length > 0,
    unique: isUnique,
    mandatory: !isKey && field.isNotNull,
    maxLength: type === 'string' ? field.maxLength : undefined,
    multiLine: type === 'string' && field.isMultiLine,
    autoFill: field.isSequence && NUMBERED.has(type) ? 'increment' : field.isGenerated && type === 'uuid' && 'uuid',
    scope: field.isHidden && 'private',
  })
}

/** Types by the numbers that 4D uses in a structure, which differ from those of its language. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['1', 'bool'],
  ['2', 'byte'],
  ['3', 'word'],
  ['4', 'long'],
  ['5', 'long64'],
  ['6', 'number'],
  ['7', 'float'],
  ['8', 'date'],
  ['9', 'duration'],
  ['10', 'string'],
  ['12', 'image'],
  ['14', 'string'],
  ['18', 'blob'],
  ['21', 'object'],
])
const NUMBERED = new Set(['word', 'long', 'long64'])

const ON_DELETE: Readonly<Record<string, string>> = { reject: 'restrict', delete: 'cascade' }

function relation(
  { source, destination, toOne, toMany, integrity }: Relation,
  model: DraftModel,
  names: Names,
  onLeft: OnLeft,
): Addition | undefined {
  const from = names.find(source)
  const to = names.find(destination)
  const subject = `${from?.dataClass ?? 'a relation'}.${toOne || toMany || 'without a name'}`
  const owner = from && model.dataClasses[from.dataClass]
  const target = to && model.dataClasses[to.dataClass]
  const reason =
    !owner || !target
      ? 'one of its tables is left out'
      : toOne === ''
        ? 'the relation to one has no name'
        : target.key !== to.attribute
          ? `it leads to ${to.dataClass}.${to.attribute}, which is not the primary key`
          : names.isTaken(from.dataClass, toOne) || (toMany !== '' && names.isTaken(to.dataClass, toMany))
            ? 'a field has the same name'
            : undefined
  if (reason !== undefined || !from || !to) {
    onLeft(subject, reason!)
    return undefined
  }
  const isMandatory = owner!.attributes[from.attribute]?.mandatory === true
  const onDelete = ON_DELETE[integrity] ?? (isMandatory ? undefined : 'setNull')
  const ends = { from: from.dataClass, name: toOne, to: to.dataClass, inverse: toMany || undefined }
  return relationOf({ ...ends, foreignKey: from.attribute, onDelete })
}

/** Names of dataclasses and attributes for tables and fields. */
class Names {
  private readonly byField = new Map<string, { dataClass: string; attribute: string }>()
  private readonly takenNames = new Set<string>()

  constructor(private readonly onNote: (note: string) => void) {}

  ofTable(table: Table): string {
    const entry = this.byField.get(table.id)
    if (entry) return entry.dataClass
    const dataClass = this.free('', table.name)
    this.byField.set(table.id, { dataClass, attribute: '' })
    for (const field of table.fields)
      this.byField.set(field.id, { dataClass, attribute: this.free(`${dataClass}.`, field.name) })
    return dataClass
  }

  ofField(table: Table, { id }: Field): string {
    this.ofTable(table)
    return this.byField.get(id)!.attribute
  }

  find = (id: string): { dataClass: string; attribute: string } | undefined => this.byField.get(id)

  isTaken = (dataClass: string, name: string): boolean => this.takenNames.has(`${dataClass}.${name}`)

  /** An unused name that a model can have. */
  private free(owner: string, originalName: string): string {
    const name = originalName
      .normalize('NFC')
      .replace(/[^\p{L}\p{M}\p{N}_]/gu, '_')
      .replace(/^(?=[\p{M}\p{N}]|(?:not|and|or|except)$)/iu, '_')
    const free = freeName(name, each => this.takenNames.has(owner + each), '_')
    this.takenNames.add(owner + free)
    if (free !== originalName) this.onNote(`${owner}${originalName} is named ${free} in the model`)
    return free
  }
}
