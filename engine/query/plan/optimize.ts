import type { Predicate } from '../bind/predicate.ts'
import type { LogicalPlan } from '../nodes/logical-plan.ts'
import type { Rule } from './rule.ts'
import { flatten } from './rules/flatten.ts'
import { foldConstants } from './rules/fold-constants.ts'
import { limitToTopN } from './rules/limit-to-top-n.ts'
import { mergeRanges } from './rules/merge-ranges.ts'
import { propertyColumns } from './rules/property-columns.ts'
import { pushNotDown } from './rules/push-not-down.ts'

const predicateRules: readonly Rule<Predicate>[] = [
  // First: the others may only drop what is not true, and under a NOT that would lose what is unknown.
  pushNotDown,
  // Before flatten and merge-ranges: then ranges of a property merge as those of an attribute do.
  propertyColumns,
  // Before merge-ranges: it looks at the direct inputs of an AND.
  flatten,
  // Before fold-constants: only merged bounds show that a range is empty.
  mergeRanges,
  foldConstants,
]

const planRules: readonly Rule<LogicalPlan>[] = [limitToTopN]

/** Rewrites a predicate by every rule, once, in their order. The result is the same for every snapshot and page. */
export const optimizePredicate = (predicate: Predicate): Predicate => applyAll(predicateRules, predicate)

/** Rewrites a plan whose predicate has been optimized. */
export const optimizePlan = (plan: LogicalPlan): LogicalPlan => applyAll(planRules, plan)

const applyAll = <Node>(rules: readonly Rule<Node>[], node: Node): Node =>
  rules.reduce((current, rule) => rule.apply(current), node)
