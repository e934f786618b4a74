import type { StorageAttribute } from '../../catalog/attribute.ts'
import { quoteName } from './quote.ts'
import type { RemoteTable } from './remote-table.ts'
import type { ColumnForm } from './column-form.ts'
import { numberForm } from './number-forms.ts'
import { moment } from './time-forms.ts'

/** A column in a statement. */
interface Column {
  readonly form: ColumnForm
  /** The first column of the attribute, without conversion. */
  readonly firstColumn: string
  /** SQL that is true for values that the attribute can have; undefined if the column holds no other values. */
  readonly fits: string | undefined
  /** {@link ColumnForm.sorted}, or null for a value that the attribute cannot have. */
  readonly sorted: string
  /** {@link ColumnForm.sorted} of any value. An index may serve it. */
  readonly raw: string
  compared(): string
}

/** A table in a statement. */
export interface From {
  readonly table: RemoteTable
  /** Name of the table in the statement. */
  readonly alias: string
  /** Table and alias, as written after FROM. */
  readonly source: string
  /** True if the columns of the table are null where it has no row for a row of another table. */
  readonly isOptional?: boolean
}

const HEAD_NUMBER = numberForm('integer', 'int8')!
/** Form of `__TIMESTAMP`, the same as that of a column with milliseconds. */
const HEAD_TIME = moment('timestamptz', 3, false)

/** The column of an attribute, or of a member of the head, with its form. */
export function columnOf(attribute: StorageAttribute, { table, alias, isOptional }: From): Column {
  if (attribute.head) {
    const isTime = attribute.head === 'timestamp'
    const time = table.timestamp ? `${alias}.${table.timestamp}::timestamptz` : 'NULL::timestamptz'
    const [key] = table.columns.get(table.dataClass.key)!
    // A row without a stamp has a default stamp, but a missing row has none.
    const stamp = isOptional
      ? `CASE WHEN ${alias}.${quoteName(key!.name)} IS NOT NULL THEN ${table.stamp(alias)} END`
      : table.stamp(alias)
    const column = isTime ? time : stamp
    const form = isTime ? HEAD_TIME : HEAD_NUMBER
    return { form, firstColumn: column, ...sortedBy(form, [column]), compared: () => column }
  }
  const form = table.forms.get(attribute)!
  const columns = table.columns.get(attribute)!.map(({ name }) => `${alias}.${quoteName(name)}`)
  return { form, firstColumn: columns[0]!, ...sortedBy(form, columns), compared: () => form.compared(...columns) }
}

function sortedBy(form: ColumnForm, columns: readonly string[]): Pick<Column, 'fits' | 'sorted' | 'raw'> {
  const raw = form.sorted(...columns)
  const fits = form.fits?.(columns[0]!)
  return { fits, raw, sorted: fits === undefined ? raw : `CASE WHEN ${fits} THEN ${raw} END` }
}

/** SQL of conditions for rows whose keys can be shown. Other rows have no address, and no statement finds them. */
export function keyConditions(from: From): string[] {
  const { table, alias } = from
  const { key } = table.dataClass
  const nullable = table.columns.get(key)!.filter(({ isNullable }) => isNullable)
  const { fits } = columnOf(key, from)
  return fits === undefined ? nullable.map(({ name }) => `${alias}.${quoteName(name)} IS NOT NULL`) : [fits]
}

/** SQL of a key or a foreign key that is compared without conversion. */
export function identityOf(attribute: StorageAttribute, from: From): string {
  const { form, firstColumn, raw } = columnOf(attribute, from)
  return form.identityType ? firstColumn : raw
}

/** SQL of a foreign key and of the key that it refers to, which are equal for related entities. */
export function relatedBy(
  foreignKey: StorageAttribute,
  from: From,
  key: StorageAttribute,
  target: From,
): { foreignKey: string; key: string } {
  const foreignType = columnOf(foreignKey, from).form.identityType
  const other = columnOf(key, target).form.identityType
  // One of the tables may store UUIDs as text, and padding is not part of a text; all other columns of one family can be
  // compared.
  const isOne = (type: string): boolean => (foreignType === type) !== (other === type)
  return isOne('uuid') || isOne('bpchar')
    ? { foreignKey: columnOf(foreignKey, from).raw, key: columnOf(key, target).raw }
    : { foreignKey: identityOf(foreignKey, from), key: identityOf(key, target) }
}
