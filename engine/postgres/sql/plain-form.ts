import type { ColumnForm } from './column-form.ts'
import { type Domain, present } from './cut.ts'

/** A form whose values are compared and sorted as they are stored. */
export function plain(domain: Domain, parts: Pick<ColumnForm, 'read'> & Partial<ColumnForm>): ColumnForm {
  const hasNulls = domain.above !== undefined || domain.below !== undefined
  const own = (column?: string): string =>
    hasNulls ? `CASE WHEN ${present(domain, column!)} THEN ${column} END` : column!
  return {
    select: own,
    sorted: own,
    compared: column => column!,
    isText: false,
    domain,
    identityType: domain.type,
    write: value => String(value),
    json: value => (parts.write ?? String)(value),
    ...parts,
  }
}
