/**
 * What vector conditions mean, worked out one row at a time in double precision, without anything of the engine.
 * Source: base specification, 4.3.2; protocol notes, 2.12.
 */
export interface VectorQuestion {
  readonly vector: readonly number[]
  readonly metric: 'cosine' | 'dot' | 'euclidean'
  readonly comparator: '<' | '<=' | '>' | '>='
  /** Null: every score passes. */
  readonly threshold: number | null
}

/** Undefined: there is none. Vectors count as the Float32 that they are stored as. */
export function referenceScore(question: VectorQuestion, stored: readonly number[] | null): number | undefined {
  if (stored === null) return undefined
  const pairs = stored.map((a, i) => [Math.fround(a), Math.fround(question.vector[i]!)] as const)
  const sum = (term: (a: number, b: number) => number) => pairs.reduce((total, [a, b]) => total + term(a, b), 0)
  switch (question.metric) {
    case 'dot':
      return sum((a, b) => a * b)
    case 'euclidean':
      return Math.sqrt(sum((a, b) => (a - b) ** 2))
    case 'cosine': {
      const lengths = Math.sqrt(sum(a => a * a)) * Math.sqrt(sum((_, b) => b * b))
      return lengths === 0 ? undefined : sum((a, b) => a * b) / lengths
    }
  }
}

/** Keys of the rows that pass, those with the most similar vectors first. */
export function referenceAnswer(
  question: VectorQuestion,
  rows: ReadonlyMap<number, { readonly embedding: readonly number[] | null }>,
): number[] {
  const { comparator, threshold, metric } = question
  const passes = (score: number): boolean => {
    if (threshold === null) return true
    if (score === threshold) return comparator.endsWith('=')
    return score > threshold === comparator.startsWith('>')
  }
  const scored = [...rows].flatMap(([key, { embedding }]) => {
    const score = referenceScore(question, embedding)
    return score !== undefined && passes(score) ? [{ key, score }] : []
  })
  const sign = metric === 'euclidean' ? 1 : -1
  return scored.sort((a, b) => sign * (a.score - b.score) || a.key - b.key).map(({ key }) => key)
}
