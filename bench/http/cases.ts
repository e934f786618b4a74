import { aggregateAll, aggregateFiltered } from './aggregate.bench.ts'
import beginsWith from './begins-with.bench.ts'
import firstPage from './first-page.bench.ts'
import {
  computeSum,
  functionAsync,
  functionEntity,
  functionSumOfAll,
  functionSumOfEach,
  functionTrivial,
} from './function.bench.ts'
import type { HttpCase } from './http-case.ts'
import indexedEquality from './indexed-equality.bench.ts'
import { insertMany, insertOne } from './insert.bench.ts'
import rangeSorted from './range-sorted.bench.ts'
import readOne from './read-one.bench.ts'
import relation from './relation.bench.ts'
import { deepSortedPage, firstSortedPage } from './sorted-page.bench.ts'
import updateOne from './update.bench.ts'

/** All cases in the order in which they run. Cases that write come last, because they change the answers that others expect. */
export const HTTP_CASES: readonly HttpCase[] = [
  readOne,
  firstPage,
  firstSortedPage,
  deepSortedPage,
  indexedEquality,
  beginsWith,
  relation,
  rangeSorted,
  aggregateAll,
  aggregateFiltered,
  functionTrivial,
  functionAsync,
  functionEntity,
  computeSum,
  functionSumOfAll,
  functionSumOfEach,
  updateOne,
  insertOne,
  insertMany,
]
