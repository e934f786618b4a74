// @ts-nocheck AssemblyScript: its compiler checks the types
export { aggregateF64 } from './aggregate'
export { filterF64, filterU32 } from './filter'
export { markReferenced, semiJoin } from './join'
export { filterPattern } from './pattern'
export { copyRows, touchRows } from './rows'
export { filterSketches } from './sketch'
export { scoreVectors } from './vector'
export { scoreCodes } from './vector-codes'
