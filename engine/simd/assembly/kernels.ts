// @ts-nocheck AssemblyScript: its compiler checks the types
export { aggregateF64, aggregateI32 } from './aggregate'
export { and, andNot, or, popcount } from './bitmap'
export { filterF64, filterI32, filterPresent, filterU32 } from './filter'
export { gatherF64 } from './gather'
export { markReferenced, semiJoin } from './join'
