import type { StorageAttribute } from '../../catalog/attribute.ts'
import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { entriesByKey } from '../../data/index-entries.ts'
import type { IndexEntries, RelatedEntity } from '../../data/store-transaction.ts'
import { isNullKey, keyBytes, readIndexNumber, writeIndexKey } from '../../row-format/index-key.ts'
import { completeRow } from '../../row-format/new-row.ts'
import { keyText, type RowLayout } from '../../row-format/row-layout.ts'
import { type EncodedRows, NO_VALUE } from '../contract/encoded-rows.ts'
import type { SavedEntity } from '../contract/requests.ts'
import { convertValue } from '../value/convert.ts'
import { violations } from '../value/validate.ts'
import type { SaveContext } from './entity-change.ts'

/** An entity that will be put. */
interface AddedRow {
  /** Index of its element in the piece. */
  readonly element: number
  readonly rowId: number
  readonly row: Buffer
}

/** Automatic keys, and the rows that have them. */
interface NumberedRows {
  readonly numbers: Value[]
  readonly rowIds: number[]
}

/**
 * Inserts entities that the pool has encoded, with all checks that need the store. The rows of a piece are put together, and the
 * entries of each index in the order of its keys.
 */
export class EncodedInsertion {
  private readonly layout: RowLayout
  /** Position of the key in the list of indexes. */
  private readonly keyIndex: number
  private piece: EncodedRows | undefined
  private added: AddedRow[] = []
  /** Keys of the rows of this piece, by index: 1 if a row has the key. */
  private taken: readonly Uint8Array[] = []
  /** Related entities of the piece's foreign keys, by relation; null if there is none. */
  private related: readonly (RelatedEntity | null | undefined)[][] = []
  private numbered: NumberedRows = { numbers: [], rowIds: [] }

  constructor(private readonly context: Pick<SaveContext, 'dataClass' | 'transaction' | 'timestamp' | 'rules'>) {
    const { dataClass, transaction, rules } = context
    this.layout = transaction.layout(dataClass)
    this.keyIndex = rules.indexes.indexOf(dataClass.key)
  }

  /**
   * Adds an entity to those that {@link put} puts.
   * @returns undefined if `saveEntity` has to save the element, after {@link put}: it was not encoded, a related entity spells its key
   * differently, or there is a problem to report
   */
  add(piece: EncodedRows, element: number): SavedEntity | undefined {
    if (piece !== this.piece) this.open(piece)
    const { ends, rows, keyDigits } = piece
    const start = element === 0 ? 0 : ends[element - 1]!
    const end = ends[element]!
    if (start === end) return undefined
    const references = this.references(piece, element)
    if (!references) return undefined
    const { dataClass, transaction, timestamp } = this.context
    const state = transaction.state(dataClass)
    const digits = keyDigits[element]!
    const number = digits > 0 ? this.nextNumber(state.nextAutoIncrement) : null
    const sentNumber = number === null ? this.sentNumber(piece, element) : null
    // The index has an automatic key only when its row has been put.
    if (sentNumber !== null && this.mayBeAdded(sentNumber, state.nextAutoIncrement)) this.put()
    if (number === undefined || this.holdsUnique(piece, element, number)) return undefined
    const key = number === null ? undefined : keyText(this.layout, number)
    const row = completeRow(this.layout, rows.subarray(start, end), { timestamp, references, key, digits })
    const rowId = transaction.newRowId(dataClass)
    this.added.push({ element, rowId, row })
    this.take(piece, element)
    if (number !== null) {
      this.numbered.numbers.push(number)
      this.numbered.rowIds.push(rowId)
    }
    this.countKey(number ?? sentNumber)
    return { row, rowId }
  }

  /** Puts the entities that were added. */
  put(): void {
    const { added, piece, context, numbered } = this
    if (added.length === 0) return
    const { dataClass, transaction, rules } = context
    const rowIds = new Uint32Array(added.length)
    for (let row = 0; row < added.length; row++) rowIds[row] = added[row]!.rowId
    const entries = rules.indexes.map((attribute, i) => {
      const { values, numbers } = piece!.indexes[i]!
      const places = new Uint32Array(added.length)
      for (let row = 0; row < added.length; row++) places[row] = numbers[added[row]!.element]!
      return entriesByKey(attribute, values, places, rowIds)
    })
    if (numbered.rowIds.length > 0) entries.push(entriesOfNumbers(dataClass.key, numbered))
    transaction.insertRows(dataClass, added, entries)
    this.added = []
    this.numbered = { numbers: [], rowIds: [] }
  }

  private open(piece: EncodedRows): void {
    this.put()
    this.piece = piece
    this.taken = piece.indexes.map(({ values }) => new Uint8Array(values.ends.length))
    this.related = piece.foreignKeys.map(({ values }) => new Array(values.length))
  }

  /** Row ids of the related entities; undefined if one is missing, or spells its key differently. */
  private references({ foreignKeys }: EncodedRows, element: number): (number | undefined)[] | undefined {
    const references: (number | undefined)[] = []
    for (let i = 0; i < foreignKeys.length; i++) {
      const number = foreignKeys[i]!.numbers[element]!
      const entity = number === NO_VALUE ? undefined : this.findRelated(i, number, foreignKeys[i]!.values[number]!)
      if (entity === null) return undefined
      references.push(entity?.rowId)
    }
    return references
  }

  /** @returns null if there is none, or it spells its key differently */
  private findRelated(reference: number, number: number, key: Value): RelatedEntity | null {
    const related = this.related[reference]!
    let entity = related[number]
    if (entity === undefined) {
      const { target, foreignKey } = this.layout.references[reference]!
      const { dataClass, transaction } = this.context
      entity = transaction.findRelated(target, key) ?? null
      if (!entity && target === dataClass && this.added.length > 0) {
        // It may be one of the entities that were added.
        this.put()
        entity = transaction.findRelated(target, key) ?? null
      }
      if (entity && foreignKey.type === target.key.type && entity.key !== key) entity = null
      // An entity of the same dataclass may be added later.
      if (entity || target !== dataClass) related[number] = entity
    }
    return entity
  }

  /** The next automatic key; undefined if there is none that the model allows. */
  private nextNumber(next: number): Value | undefined {
    const { key } = this.context.dataClass
    const number = convertValue(key, next, false)
    return number instanceof ProtocolError || violations(key, number).length > 0 ? undefined : number
  }

  /** True if another entity has a value that has to be unique. @param number automatic key, or null */
  private holdsUnique({ indexes }: EncodedRows, element: number, number: Value): boolean {
    const { rules, transaction } = this.context
    for (let i = 0; i < indexes.length; i++) {
      const attribute = rules.indexes[i]!
      if (!attribute.unique) continue
      if (i === this.keyIndex && number !== null) {
        const end = writeIndexKey(attribute, number, 0)
        if (transaction.holderOf(attribute, keyBytes, 0, end) !== undefined) return true
        continue
      }
      const { values, numbers } = indexes[i]!
      const place = numbers[element]!
      const [start, end] = [place === 0 ? 0 : values.ends[place - 1]!, values.ends[place]!]
      if (isNullKey(start, end)) continue
      if (this.taken[i]![place] === 1) return true
      if (transaction.holderOf(attribute, values.bytes, start, end) !== undefined) return true
    }
    return false
  }

  private take({ indexes }: EncodedRows, element: number): void {
    for (let i = 0; i < indexes.length; i++) {
      const place = indexes[i]!.numbers[element]!
      if (place !== NO_VALUE) this.taken[i]![place] = 1
    }
  }

  /** Key that was sent, if automatic keys have to continue after it. */
  private sentNumber({ indexes }: EncodedRows, element: number): number | null {
    const { key } = this.context.dataClass
    if (key.autoFill !== 'increment') return null
    const { values, numbers } = indexes[this.keyIndex]!
    const place = numbers[element]!
    return readIndexNumber(key, values.bytes, place === 0 ? 0 : values.ends[place - 1]!)
  }

  /** True if a row that was added may have this number as its automatic key. @param next the next automatic key */
  private mayBeAdded(number: number, next: number): boolean {
    const [first] = this.numbered.numbers
    return typeof first === 'number' && number >= first && number < next
  }

  private countKey(number: Value): void {
    const { transaction, dataClass } = this.context
    const state = transaction.state(dataClass)
    if (typeof number === 'number' && number >= state.nextAutoIncrement) state.nextAutoIncrement = number + 1
  }
}

/** Entries of the index of automatic keys, which ascend. */
function entriesOfNumbers(key: StorageAttribute, { numbers, rowIds }: NumberedRows): IndexEntries {
  const length = writeIndexKey(key, numbers[0]!, 0)
  const bytes = new Uint8Array(numbers.length * length)
  const ends = new Uint32Array(numbers.length)
  for (const [i, number] of numbers.entries()) {
    writeIndexKey(key, number, 0)
    bytes.set(keyBytes.subarray(0, length), i * length)
    ends[i] = (i + 1) * length
  }
  const each = Uint32Array.from(numbers, (_, i) => i)
  return { attribute: key, bytes, ends, keys: each, rowEnds: each.map(i => i + 1), rowIds: Uint32Array.from(rowIds) }
}
