import { aggregate } from './aggregate.bench.ts'
import { commitCases } from './commit.bench.ts'
import type { EngineCase } from './engine-case.ts'
import { entitySetCases } from './entity-set.bench.ts'
import { joinToMany, joinToOne } from './join.bench.ts'
import { loadPlugins } from './load-plugins.bench.ts'
import { objectEquality, objectRange } from './object-property.bench.ts'
import { parseCached, parseCold, parseLifted } from './parse.bench.ts'
import { rowSetCases } from './row-set.bench.ts'
import { scanNumbers, scanText } from './scan.bench.ts'
import { vectorCases } from './vector.bench.ts'
import { vectorInsert } from './vector-insert.bench.ts'
import { vectorMillion } from './vector-million.bench.ts'
import { sortAll, sortTop } from './sort.bench.ts'

export const ENGINE_CASES: readonly EngineCase[] = [
  scanNumbers,
  scanText,
  sortTop,
  sortAll,
  joinToOne,
  joinToMany,
  aggregate,
  objectEquality,
  objectRange,
  ...rowSetCases,
  ...entitySetCases,
  parseCold,
  parseLifted,
  parseCached,
  loadPlugins,
  ...commitCases,
  ...vectorCases,
  vectorInsert,
  vectorMillion,
]
