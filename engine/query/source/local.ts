import { Rows } from '../contract/rows.ts'
import { execute } from '../execute/execute-plan.ts'
import { openSource } from '../execute/open-source.ts'
import { buildPlan } from '../plan/build-plan.ts'
import { describeFilter } from '../plan/describe-filter.ts'
import { lower } from '../plan/lower.ts'
import { optimizePlan } from '../plan/optimize.ts'
import { chooseVectorAccess } from '../plan/vector-access.ts'
import { passesFew } from '../scan/sample-scores.ts'
import type { Finder } from './finder.ts'

/** Finds entities in this store, over its columns and indexes. */
export const LOCAL: Finder = {
  operatorFor({ predicate, orderBy }, { exact }, dataClass, page, { snapshot }) {
    const filter = predicate && lower(predicate, dataClass, snapshot)
    if (!filter || exact) return filter
    return chooseVectorAccess(filter, dataClass, {
      snapshot,
      order: page && { keys: orderBy, count: page.skip + page.count },
      passesFew: ({ attribute, similarity }, test) =>
        passesFew(attribute, similarity, test, snapshot.table(attribute.dataClass)),
    })
  },

  page({ request, plan, filter }, _page, view, context) {
    const source = openSource(request, view, context)
    const { rowIds, total } = execute(plan, filter, source.rows, context)
    return { rowIds, total, name: source.name }
  },

  all: ({ request, plan, filter }, view, context) =>
    execute(plan, filter, openSource(request, view, context).rows, context),

  rowIds: (selection, view, context) => LOCAL.all(selection, view, context).rowIds,

  aggregateInput: (selection, view, context) => LOCAL.all(selection, view, context).set,

  members: (selection, view, context) => LOCAL.all(selection, view, context).selection,

  source: (request, view, context) => openSource(request, view, context).rows,

  describe({ dataClass, predicate, filter }, parts, view, { snapshot, trace }) {
    if (!predicate || !filter) return undefined
    return describeFilter({ dataClass, predicate, operator: filter }, parts, { view, snapshot, trace })
  },

  keysOf(attribute, values, { snapshot, budget }) {
    const table = snapshot.table(attribute.dataClass)
    const index = table.index(attribute)!
    return values.map(value => {
      const rows = index.equal(value)
      budget.examine(rows.size)
      const keys: string[] = []
      for (const rowId of rows) if (keys.push(table.row(rowId)!.key) === 2) break
      return keys
    })
  },

  among(rows, query, dataClass, context, page) {
    const plan = optimizePlan(buildPlan({ dataClass, ...query, page }))
    const filter = query.predicate && lower(query.predicate, dataClass, context.snapshot)
    return execute(plan, filter, rows!, context)
  },

  inOrder: (rowIds, dataClass, { snapshot }) => Rows.inOrder(rowIds, snapshot.table(dataClass).live),

  unordered: Rows.ofSet,

  withoutDeleted: (rows, dataClass, { snapshot }) => rows.narrow(rows.set.and(snapshot.table(dataClass).live)),

  lasting: ({ selection }) => selection,
}
