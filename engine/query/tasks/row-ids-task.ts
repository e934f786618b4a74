import type { View } from '../../catalog/view.ts'
import { MICROSECONDS } from '../estimate/costs.ts'
import type { QueryContext } from '../operators/query-context.ts'
import type { Selection } from '../source/finder.ts'
import { planPage, planSelection, runPage } from '../source/select.ts'
import { expectSelection } from './selection-cost.ts'
import { searchesOf, type TaskKind } from './task-kind.ts'

/** Row ids of a page or of a whole selection, as the bytes of a `Uint32Array`. */
export const rowIdsTask: TaskKind<{ readonly of: 'page' | 'selection' }> = {
  isInner: true,
  plan(request, { of }, { views, queries }, context) {
    const view = views.of(request.access)
    if (of === 'page') {
      const page = planPage(request, view, queries, context)
      return {
        searches: searchesOf(page),
        cost: () => costOfFinding(page, view, context),
        run: () => bytesOf(runPage(page, view, context).rowIds),
      }
    }
    const selection = planSelection(request, view, queries, context)
    return {
      searches: searchesOf(selection),
      cost: () => costOfFinding(selection, view, context),
      run: () => bytesOf(selection.finder.all(selection, view, context).rowIds),
    }
  },
}

/** Decodes the answer of a {@link rowIdsTask}. */
export const rowIdsOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, byteLength / Uint32Array.BYTES_PER_ELEMENT)

/** Expected time to find the entities of a selection, in microseconds. */
export const costOfFinding = (selection: Selection, view: View, { snapshot }: QueryContext): number =>
  MICROSECONDS.request + expectSelection(selection, view, snapshot).microseconds

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
