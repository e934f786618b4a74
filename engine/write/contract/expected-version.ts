import type { RowView } from '../../row-format/row-view.ts'

/**
 * Versions of which an entity has to have one, in the form of {@link RowView.version} or as the stamp alone, `3`; or `any`: it has
 * to exist. Source: RFC 9110, 13.1.1, `If-Match`.
 */
export type ExpectedVersion = readonly string[] | 'any'

/** True if an entity in this version may be changed. */
export function isExpected(expected: ExpectedVersion | undefined, row: Pick<RowView, 'stamp' | 'version'>): boolean {
  if (expected === undefined || expected === 'any') return true
  return expected.includes(`${row.stamp}`) || expected.includes(row.version)
}
