/**
 * Meaning of vector conditions, computed row by row in double precision, without the engine.
 * Source: base specification, 4.3.2; protocol notes, 2.12.
 */
export interface VectorQuestion {
  readonly vector: readonly number[]
  readonly metric: 'cosine' | 'dot' | 'euclidean'
  readonly comparator: '<' | '<=' | '>' | '>='
  /** Null: every score passes. */
  readonly threshold: number | null
}

/** Score, or undefined if there is none. Vectors count as the Float32 that they are stored as. */
export function referenceScore(question: VectorQuestion, stored: readonly number[] | null): number | undefined {
  if (stored === null) return undefined
  const sum = (term: (a: number, b: number) => number) => {
    let total = 0
    for (let i = 0; i < stored.length; i++) total += term(Math.fround(stored[i]!), Math.fround(question.vector[i]!))
    return total
  }
  switch (question.metric) {
    case 'dot':
      return sum((a, b) => a * b)
    case 'euclidean':
      return Math.sqrt(sum((a, b) => (a - b) * (a - b)))
    case 'cosine': {
      const lengths = Math.sqrt(sum(a => a * a)) * Math.sqrt(sum((_, b) => b * b))
      return lengths === 0 ? undefined : sum((a, b) => a * b) / lengths
    }
  }
}

/** True if the score of a stored vector passes. */
export function referencePasses(question: VectorQuestion, stored: readonly number[] | null): boolean {
  const { comparator, threshold } = question
  const score = referenceScore(question, stored)
  if (score === undefined || threshold === null) return score !== undefined
  if (score === threshold) return comparator.endsWith('=')
  return score > threshold === comparator.startsWith('>')
}

/** Keys of rows, the most similar vectors first; rows without a score are lowest. */
export function inOrder(
  question: VectorQuestion,
  rows: readonly (readonly [key: number, row: { readonly embedding: readonly number[] | null }])[],
): number[] {
  const sign = question.metric === 'euclidean' ? 1 : -1
  return rows
    .map(([key, { embedding }]) => ({ key, score: referenceScore(question, embedding) ?? -Infinity }))
    .sort((a, b) => (a.score === b.score ? a.key - b.key : sign * (a.score - b.score)))
    .map(({ key }) => key)
}

/** Keys of the rows that pass, the most similar vectors first. */
export const referenceAnswer = (
  question: VectorQuestion,
  rows: ReadonlyMap<number, { readonly embedding: readonly number[] | null }>,
): number[] =>
  inOrder(
    question,
    [...rows].filter(([, { embedding }]) => referencePasses(question, embedding)),
  )
