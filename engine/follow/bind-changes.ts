import type { DataClass } from '../catalog/dataclass.ts'
import type { View } from '../catalog/view.ts'
import { needsCode } from '../data/suspended.ts'
import type { Snapshot } from '../data/snapshot.ts'
import type { RowLayout } from '../row-format/row-layout.ts'
import type { ChangeSelection } from '../query/contract/changes.ts'
import type { QueryLimits } from '../query/contract/query-limits.ts'
import type { ReadRequest } from '../query/contract/request.ts'
import { parseAttributeList } from '../query/parse/parse-path-list.ts'
import type { QueryCache } from '../query/plan/query-cache.ts'
import { planSelection } from '../query/source/select.ts'
import { bindProjection } from '../query/serialise/bind-projection.ts'
import { FollowErrors } from './follow-errors.ts'

interface Bindings {
  readonly view: View
  readonly queries: QueryCache
  readonly layouts: ReadonlyMap<DataClass, RowLayout>
  readonly limits: QueryLimits
}

/** Read of changed entities: its source is filled in by the reader. */
export function readOf(
  { dataClass: name, filter, attributes }: ChangeSelection,
  { view, limits }: Pick<Bindings, 'view' | 'limits'>,
): ReadRequest & { readonly source: { readonly kind: 'rows' } } {
  const dataClass = view.dataClass(name)
  const all = view.attributes(dataClass)
  const names = attributes ?? (all.some(({ kind }) => kind === 'calculated') ? withoutCode(all) : undefined)
  const items = names && parseAttributeList(names.join(','), name, limits)
  return {
    dataClass: name,
    source: { kind: 'rows', rowIds: new Uint32Array(0), ordered: true },
    ...(filter !== undefined && { filter }),
    exact: true,
    skip: 0,
    top: undefined,
    output: { form: 'entity', ...(items && { attributes: { from: 'parameter', items } }) },
  }
}

const withoutCode = (all: Iterable<{ readonly kind: string; readonly name: string }>): string[] =>
  [...all].filter(({ kind }) => kind !== 'calculated').map(({ name }) => name)

/** Checks a selection against the catalog. @throws {ProtocolError} */
export function checkChanges(selection: ChangeSelection, bindings: Bindings, snapshot: Snapshot): void {
  const { view, queries, layouts, limits } = bindings
  const request = readOf(selection, bindings)
  if (!view.dataClass(selection.dataClass).place.isStore) throw FollowErrors.REMOTE(selection.dataClass)
  try {
    planSelection(request, view, queries, { snapshot })
    bindProjection(view.dataClass(selection.dataClass), request.output, view, layouts, limits)
  } catch (error) {
    throw needsCode(error) ? FollowErrors.CALCULATED(selection.dataClass) : error
  }
}
