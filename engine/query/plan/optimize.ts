import type { Predicate } from '../bind/predicate.ts'
import type { LogicalPlan } from './nodes/logical-plan.ts'
import type { Rule } from './rules/rule.ts'
import { flatten } from './rules/flatten.ts'
import { foldConstants } from './rules/fold-constants.ts'
import { limitToTopN } from './rules/limit-to-top-n.ts'
import { mergeRanges } from './rules/merge-ranges.ts'
import { propertyColumns } from './rules/property-columns.ts'
import { pushNotDown } from './rules/push-not-down.ts'

const predicateRules: readonly Rule<Predicate>[] = [
  // First: the other rules treat unknown as false, which is wrong under a NOT.
  pushNotDown,
  // Before flatten and merge-ranges, so that ranges of a property merge like ranges of an attribute.
  propertyColumns,
  // Before merge-ranges, which only examines the direct inputs of an AND.
  flatten,
  // Before fold-constants: only merged bounds show that a range is empty.
  mergeRanges,
  foldConstants,
]

const planRules: readonly Rule<LogicalPlan>[] = [limitToTopN]

/** Applies every rule once, in order, to a predicate. The result does not depend on snapshot or page. */
export const optimizePredicate = (predicate: Predicate): Predicate => applyAll(predicateRules, predicate)

/** Optimizes a plan whose predicate has already been optimized. */
export const optimizePlan = (plan: LogicalPlan): LogicalPlan => applyAll(planRules, plan)

const applyAll = <Node>(rules: readonly Rule<Node>[], node: Node): Node =>
  rules.reduce((current, rule) => rule.apply(current), node)
