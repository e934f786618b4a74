import type { Catalog } from '../../../engine/catalog/dataclass.ts'
import { publicView } from '../../../engine/catalog/view.ts'
import { QueryBudget } from '../../../engine/query/scan/query-budget.ts'
import { TEXT_LIMITS } from '../../../engine/query/parse/limits.ts'
import { type Params, toParams } from '../../../engine/query/parse/parse-params.ts'
import type { ReadRequest } from '../../../engine/query/contract/request.ts'
import { QueryCache } from '../../../engine/query/plan/query-cache.ts'
import { planPage, runPage } from '../../../engine/query/source/select.ts'
import type { Snapshot } from '../../../engine/data/snapshot.ts'

export interface QueryOptions extends Partial<Omit<ReadRequest, 'params'>> {
  params?: unknown
  budget?: QueryBudget
  /** For a test of queries after others with the same cache. */
  queries?: QueryCache
}

/** Runs a read request with defaults for everything left out; all rows are on the page. */
export function runQuery(catalog: Catalog, snapshot: Snapshot, { params, budget, queries, ...request }: QueryOptions) {
  const parsed: Params | undefined = params === undefined ? undefined : toParams(params)
  const whole: ReadRequest = {
    dataClass: 'Employee',
    source: { kind: 'all' },
    skip: 0,
    top: Number.POSITIVE_INFINITY,
    output: { form: 'collection' },
    ...request,
    ...(parsed && { params: parsed }),
  }
  const view = publicView(catalog)
  const context = { snapshot, budget: budget ?? new QueryBudget() }
  return runPage(planPage(whole, view, queries ?? new QueryCache(TEXT_LIMITS), context), view, context)
}
