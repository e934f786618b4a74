import type { ColumnForm } from './column-form.ts'
import { type Domain, present } from './cut.ts'

/** A form whose values are compared and sorted as they are stored. */
export function plain(domain: Domain, parts: Pick<ColumnForm, 'read'> & Partial<ColumnForm>): ColumnForm {
  const isLimited = domain.above !== undefined || domain.below !== undefined || domain.also !== undefined
  const own = (column?: string): string => column!
  return {
    select: own,
    ...(isLimited && { fits: (column: string) => present(domain, column) }),
    sorted: own,
    compared: own,
    isText: false,
    domain,
    identityType: domain.type,
    write: value => String(value),
    json: value => (parts.write ?? String)(value),
    ...parts,
  }
}
