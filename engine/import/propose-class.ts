import { InputError } from '../base/input-error.ts'
import type { AttributeModel, DataClassModel, StorageModel } from '../catalog/model-schema.ts'
import { fold } from '../base/text/fold.ts'
import { freeName } from '../base/text/free-name.ts'
import { attributeName } from './attribute-name.ts'
import type { ForeignFormat } from './foreign-values.ts'
import { guessType, typeFor, type ValueSource } from './guess-type.ts'
import { lossOf } from './loss.ts'
import { oddValues } from './odd-values.ts'
import { proposeKey } from './propose-key.ts'
import { isReason } from './rejected-source.ts'
import type { ProposedValues } from './value-form.ts'

/** A column of a sample. */
export interface SampleColumn {
  readonly name: string
  readonly values: readonly unknown[]
  /** Type of the values, where the source says it. */
  readonly type?: StorageModel | undefined
  /** Clause that says what part of the values the reader of the file loses. */
  readonly loss?: string | undefined
}

interface ProposalOptions extends ValueSource {
  readonly className: string
  readonly columns: readonly SampleColumn[]
  readonly format: ForeignFormat
  /** Attributes by the names of columns, where they are not to be guessed; null for a column that is left out. */
  readonly names: Readonly<Record<string, string | null>>
  /** Types by attribute, where they are not to be guessed. */
  readonly types: Readonly<Record<string, StorageModel>>
  /** Attribute that is the key; null for a new one that numbers the entities. */
  readonly key?: string | null | undefined
  /** True if the columns have all values of the file. */
  readonly isWhole: boolean
}

/** A column, and the attribute that it becomes. */
interface ProposedColumn {
  readonly column: SampleColumn
  /** Null for a column that is left out. */
  readonly attribute: string | null
  readonly model: StorageModel
  /** True if the type was guessed from the values, not given by the user or by the file. */
  readonly isGuessed: boolean
  /** Currency of all values. */
  readonly currency?: string | undefined
  /** Clause that says what part of the values the attribute loses. */
  readonly loss?: string | undefined
  /** Clause about the few values for whose sake the type is `string`. */
  readonly odd?: string | undefined
}

export interface ProposedClass {
  readonly dataClass: DataClassModel
  readonly columns: readonly ProposedColumn[]
  /** Attribute that numbers the entities, because no column is a key. */
  readonly newKey: string | undefined
  /** Attributes that could be the key instead: without nulls and repetitions, but without the name or the values of a key. */
  readonly possibleKeys: readonly string[]
  /** Attributes of which each could be the key for the same reason. */
  readonly rivalKeys: readonly string[]
  /** Number of rows that have no value for the key, or the same value as an earlier row. */
  readonly rowsWithoutKey: number
  /** Texts that stand for null. */
  readonly nulls: readonly string[]
  /** Rules for the values that a load of the file accepts, by attribute. */
  readonly values: Readonly<Record<string, ProposedValues>>
}

/** Maximum number of attributes of a proposed dataclass; a model of more takes minutes to check. */
const MAX_ATTRIBUTES = 4_000
/** Types of values by which entities are looked up. */
const INDEXED_TYPES: readonly string[] = ['string', 'uuid', 'long', 'long64', 'date']
const MAX_INDEXED_LENGTH = 200
/** Minimum share of distinct values at which an index is worth its space. */
const MIN_DISTINCT = 0.5

/**
 * Proposes a dataclass for the columns of a table.
 * @throws {Error} if a name or a type in the options belongs to no column
 */
export function proposeClass(options: ProposalOptions): ProposedClass {
  const { className, columns, isTyped, format, types } = options
  const attributeNames = nameColumns(columns, options.names)
  for (const name of [...Object.keys(types), ...(typeof options.key === 'string' ? [options.key] : [])])
    if (!attributeNames.includes(name))
      throw new InputError(
        `no column becomes the attribute "${name}"; they are ${attributeNames.filter(Boolean).join(', ')}`,
      )
  const count = attributeNames.filter(name => name !== null).length
  if (count > MAX_ATTRIBUTES)
    throw new InputError(
      `the file has ${count} columns, and a dataclass of at most ${MAX_ATTRIBUTES} attributes is created; is this the right list, and the right delimiter?`,
    )
  const nulls = new Set(format.nulls)
  const proposedColumns = columns.map((column, i): ProposedColumn => {
    const attribute = attributeNames[i]!
    const { type, values } = column
    if (attribute === null) return { column, attribute, model: { type: 'string' }, isGuessed: false }
    const chosenType = types[attribute]
    if (chosenType || type)
      return { column, attribute, model: chosenType ?? typeFor(type!, values, format), isGuessed: false }
    const guess = guessType(values, options, format)
    for (const text of guess.nulls) nulls.add(text)
    const { attribute: model, currency } = guess
    const odd = model.type === 'string' ? oddValues(values, options, format) : undefined
    return { column, attribute, model, isGuessed: true, currency, odd }
  })
  const keyColumns = proposedColumns.flatMap(({ attribute, model, column: { values } }) =>
    attribute === null ? [] : [{ attribute, model, values }],
  )
  const proposedKey = proposeKey(keyColumns, className, options.isWhole)
  const key = options.key === undefined ? proposedKey.key : (options.key ?? undefined)
  const newKey =
    key === undefined ? freeName('ID', isTaken(new Set(attributeNames.map(name => name?.toLowerCase())))) : undefined
  const attributes: Record<string, AttributeModel> = {}
  if (newKey !== undefined) attributes[newKey] = { type: 'long', autoFill: 'increment' }
  for (const { attribute, model, column } of proposedColumns) {
    if (attribute === null) continue
    const numbers = attribute === key && (model.type === 'long' || model.type === 'long64')
    const indexed = attribute !== key && isSelective(model, column.values)
    attributes[attribute] = { ...model, ...(numbers && { autoFill: 'increment' }), ...(indexed && { indexed }) }
  }
  const proposals = proposedColumns.map(each => ({ ...each, loss: lossOfColumn(each, isTyped) }))
  return {
    dataClass: { key: (key ?? newKey)!, attributes },
    columns: proposals,
    newKey,
    possibleKeys: newKey === undefined ? [] : proposedKey.unique,
    rivalKeys: options.key === undefined ? proposedKey.rivals : [],
    rowsWithoutKey:
      typeof options.key !== 'string' ? 0 : withoutKey(proposedColumns.find(each => each.attribute === key)!),
    nulls: [...nulls],
    values: Object.fromEntries(
      proposals.flatMap(({ attribute, isGuessed, loss, currency }) =>
        attribute === null ? [] : [[attribute, { isGuessed, losesDigits: loss !== undefined, currency }]],
      ),
    ),
  }
}

const isTaken =
  (lowerNames: ReadonlySet<string | undefined>) =>
  (name: string): boolean =>
    lowerNames.has(name.toLowerCase())

/** A name for each column; null for one without a name and without values. */
export function nameColumns(columns: readonly SampleColumn[], names: ProposalOptions['names']): (string | null)[] {
  for (const name of Object.keys(names))
    if (!columns.some(column => column.name === name)) throw new InputError(`there is no column "${name}"`)
  const attributeNames: (string | null)[] = []
  const takenNames = new Set<string>()
  for (const [i, { name, values }] of columns.entries()) {
    const isLeftOut = isReason(name) || (name === '' && values.every(value => value === null || value === ''))
    let own: string | null
    if (Object.hasOwn(names, name) && !isReason(name)) own = names[name]!
    else if (isLeftOut) own = null
    else own = freeName(attributeName(name) || `column${i + 1}`, isTaken(takenNames))
    attributeNames.push(own)
    if (own !== null) takenNames.add(own.toLowerCase())
  }
  return attributeNames
}

function lossOfColumn({ column, attribute, model, currency }: ProposedColumn, isTyped: boolean): string | undefined {
  if (attribute === null) return undefined
  if (currency !== undefined) return `the amounts are without their currency, ${currency}`
  return column.loss ?? lossOf(model, column.values, isTyped)
}

/** Number of rows without a unique key. A missing number is generated. */
function withoutKey({ column: { values }, model }: ProposedColumn): number {
  const isText = model.type === 'string'
  const filledValues = values.filter(value => value !== null && value !== undefined)
  const keys = new Set(filledValues.map(value => fold(isText ? String(value) : String(value).replaceAll(/[\s-]/g, ''))))
  return filledValues.length - keys.size + (/^long/.test(model.type) ? 0 : values.length - filledValues.length)
}

function isSelective({ type, multiLine }: StorageModel, values: readonly unknown[]): boolean {
  if (!INDEXED_TYPES.includes(type) || multiLine) return false
  const filledValues = values.filter(value => value !== null && value !== undefined)
  if (filledValues.some(value => String(value).length > MAX_INDEXED_LENGTH)) return false
  return filledValues.length > 0 && distinct(filledValues) >= filledValues.length * MIN_DISTINCT
}

const distinct = (values: readonly unknown[]): number => new Set(values.map(value => fold(String(value).trim()))).size
