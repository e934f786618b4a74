import type { Value } from '../../catalog/value.ts'
import { ProtocolError } from '../../base/errors.ts'
import { completeRow } from '../../row-format/new-row.ts'
import { keyText } from '../../row-format/row-layout.ts'
import type { EncodedRows } from '../contract/encoded-rows.ts'
import type { SavedEntity } from '../contract/requests.ts'
import { convertValue } from '../value/convert.ts'
import type { SaveContext } from './entity-change.ts'
import { violations } from '../value/validate.ts'

/**
 * Saves a new entity that an `ElementEncoder` has encoded, with all checks that need the store.
 * @returns undefined, and nothing is put, if `saveEntity` has to save the element: it was not encoded, a related entity spells its key
 * differently, or there is a problem to report
 */
export function saveEncoded(
  context: Pick<SaveContext, 'dataClass' | 'transaction' | 'timestamp' | 'rules'>,
  encodedRows: EncodedRows,
  index: number,
): SavedEntity | undefined {
  const { dataClass, transaction, timestamp, rules } = context
  const { ends, rows, keyDigits, indexed, foreignKeys } = encodedRows
  const start = index === 0 ? 0 : ends[index - 1]!
  const end = ends[index]!
  if (start === end) return undefined
  const layout = transaction.layout(dataClass)
  const references: (number | undefined)[] = []
  for (let i = 0; i < layout.references.length; i++) {
    const { target, foreignKey } = layout.references[i]!
    const key = foreignKeys[i]![index]!
    const relatedEntity = key === null ? undefined : transaction.findRelated(target, key)
    if (key !== null && !relatedEntity) return undefined
    if (relatedEntity && foreignKey.type === target.key.type && relatedEntity.key !== key) return undefined
    references.push(relatedEntity?.rowId)
  }
  const state = transaction.state(dataClass)
  let number: Value | undefined
  let text: string | undefined
  if (keyDigits[index]! > 0) {
    const next = convertValue(dataClass.key, state.nextAutoIncrement, false)
    if (next instanceof ProtocolError || violations(dataClass.key, next).length > 0) return undefined
    number = next
    text = keyText(layout, next)
  }
  const values: Value[] = []
  for (let i = 0; i < rules.indexes.length; i++) {
    const attribute = rules.indexes[i]!
    const value = number !== undefined && attribute === dataClass.key ? number : indexed[i]![index]!
    if (attribute.unique && value !== null && transaction.holder(attribute, value) !== undefined) return undefined
    values.push(value)
  }
  const completion = { timestamp, references, key: text, digits: keyDigits[index]! }
  const row = completeRow(layout, rows.subarray(start, end), completion)
  const rowId = transaction.newRowId(dataClass)
  const { key } = dataClass
  if (key.autoFill === 'increment') {
    const value = values[rules.indexes.indexOf(key)]
    if (typeof value === 'number' && value >= state.nextAutoIncrement) state.nextAutoIncrement = value + 1
  }
  transaction.insertRow(dataClass, rowId, row, values)
  return { row, rowId }
}
