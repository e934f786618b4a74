import { METRICS, type StorageAttribute, type VectorMetric } from '../../catalog/attribute.ts'
import { isLongNumber, roundNumbers } from '../../base/exact-json.ts'
import { suggestion } from '../../base/suggestion.ts'
import { readFloats } from '../../catalog/types/read-vector.ts'
import type { ScoreTest, Similarity } from '../../vector/math/similarity.ts'
import { type Comparator, SPELLING } from '../parse/syntax-tree.ts'
import { excerpt } from '../../base/text/excerpt.ts'
import { QueryErrors } from '../contract/query-errors.ts'
import type { ComparisonValue } from './convert-value.ts'
import type { Predicate } from './predicate.ts'

const DEFAULT_THRESHOLD = 0.5
const PROPERTIES = ['vector', 'metric', 'threshold']

/**
 * Binds a comparison of a vector attribute: `embedding > :1`, where `$params` holds
 * `{"vector":[…],"metric":"cosine","threshold":0.5}`. The raw score is compared with the threshold. As an extension,
 * `"threshold":null` lets every score pass, to order by the score.
 * @param path as written, for messages
 * @throws {QueryErrors.COMPARATOR} {@link QueryErrors.VALUE} {@link QueryErrors.PLACEHOLDER_TYPE}
 * Source: base specification, 4.3.2; protocol notes, 2.12.
 */
export function bindSimilarity(
  path: string,
  attribute: StorageAttribute,
  comparator: Comparator,
  value: ComparisonValue,
): Predicate {
  if (!isScoreComparator(comparator)) {
    throw QueryErrors.COMPARATOR(SPELLING[comparator], path, 'a vector', '< <= > >=, = null or != null')
  }
  const { dimension } = attribute.vector!
  const expected = `an object such as {"vector":[… ${dimension} numbers …],"metric":"cosine","threshold":0.5}`
  if (value.kind !== 'parameter') throw QueryErrors.VALUE('a value', path, `a placeholder for ${expected}`)
  if (value.value === null) {
    throw QueryErrors.PLACEHOLDER_MISSING(
      value.name,
      `holds null; it takes ${expected}; to find null write ${path} = null`,
    )
  }
  const fail = (received: string) => QueryErrors.PLACEHOLDER_TYPE(value.name, received, expected)
  const { vector, metric, threshold } = readComparison(value.value, fail)
  const floats = readFloats(vector, dimension, received => fail(`an object whose vector is ${received}`))
  if (!(floats instanceof Float32Array)) throw floats
  const similarity: Similarity = { metric, vector: floats }
  return { kind: 'similarity', attribute, similarity, test: threshold === null ? undefined : { comparator, threshold } }
}

const isScoreComparator = (comparator: Comparator): comparator is ScoreTest['comparator'] =>
  comparator === 'less' || comparator === 'lessOrEqual' || comparator === 'greater' || comparator === 'greaterOrEqual'

function readComparison(
  value: unknown,
  fail: (received: string) => Error,
): { vector: unknown; metric: VectorMetric; threshold: number | null } {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw fail(Array.isArray(value) ? 'an array' : value === null ? 'null' : `a ${typeof value}`)
  }
  const unknown = Object.keys(value).find(name => !PROPERTIES.includes(name))
  if (unknown !== undefined) {
    throw fail(`an object with a property "${excerpt(unknown)}"${suggestion(unknown, PROPERTIES)}`)
  }
  const { vector, metric = 'cosine', threshold: received = DEFAULT_THRESHOLD } = value as Record<string, unknown>
  const threshold = roundNumbers(received)
  if (vector === undefined) throw fail('an object without a vector')
  if (!isMetric(metric)) throw fail(`an object whose metric is ${excerptOf(metric)}, none of ${METRICS.join(', ')}`)
  if (threshold !== null && !(typeof threshold === 'number' && Number.isFinite(threshold))) {
    throw fail(`an object whose threshold is ${excerptOf(received)}, not a finite number`)
  }
  return { vector, metric, threshold }
}

const excerptOf = (value: unknown): string =>
  typeof value === 'string' || (typeof value === 'object' && !isLongNumber(value))
    ? excerpt(JSON.stringify(value))
    : String(value)

const isMetric = (metric: unknown): metric is VectorMetric => (METRICS as readonly unknown[]).includes(metric)
