import type { SketchScanner } from '../../data/kernels.ts'
import type { VectorSegment } from '../../data/snapshot.ts'
import { lengthOf, type Similarity } from '../../vector/math/similarity.ts'
import { type LeastSums, sketchQuestion, type SketchQuestion } from '../../vector/math/sketch.ts'

/**
 * Slack below a threshold, in standard deviations. Estimates for near vectors scatter up to a quarter more than others.
 */
const THRESHOLD_DEVIATIONS = 3.6

/** Selects the rows of a segment that are probably as near as a limit. Valid until the next call. */
type NearFilter = (segment: VectorSegment, rows: Uint32Array, limit: number) => Uint32Array

/** Filter that excludes rows whose sketches are probably not near; without sketches it excludes none. */
export function nearFilter(similarity: Similarity): NearFilter {
  const sketches = new Sketches(similarity, THRESHOLD_DEVIATIONS)
  return (segment, rows, limit) => {
    const scanner = sketches.of(segment)
    return scanner ? scanner.near(segment.page!.address, rows, sketches.leastSums(segment, limit)) : rows
  }
}

/** Sketches of vectors, and the test that a query makes on them. */
export class Sketches {
  private readonly question: SketchQuestion | undefined
  private readonly length: number
  private scanner: SketchScanner | null | undefined
  private last: { readonly cosine: number; readonly sums: LeastSums } | undefined

  constructor(
    private readonly similarity: Similarity,
    private readonly deviations: number,
  ) {
    this.question = sketchQuestion(similarity.vector)
    this.length = lengthOf(similarity.vector)
  }

  /** @returns undefined if the segment has no sketches */
  of({ page }: VectorSegment): SketchScanner | undefined {
    if (!page || !this.question) return undefined
    if (this.scanner === undefined) this.scanner = page.kernels.vectors.sketchScanner(this.question) ?? null
    return this.scanner?.has(page.address) ? this.scanner : undefined
  }

  sumsOf(cosine: number): LeastSums {
    if (this.last?.cosine !== cosine) this.last = { cosine, sums: this.question!.sumsOf(cosine, this.deviations) }
    return this.last.sums
  }

  /** Sums reached by most vectors of the segment whose score reaches a limit. */
  leastSums({ page }: VectorSegment, limit: number): LeastSums {
    const { metric } = this.similarity
    if (metric === 'cosine') return this.sumsOf(limit)
    const { shortest, longest } = this.scanner!.lengths(page!.address)
    const cosine =
      metric === 'dot'
        ? limit / (this.length * (limit > 0 ? longest : shortest))
        : leastCosine(limit, this.length, shortest, longest)
    // A cosine that is not known (NaN), or not above -1, excludes nothing.
    return this.sumsOf(cosine > -1 ? cosine : Number.NEGATIVE_INFINITY)
  }
}

/** Minimum cosine of two vectors within a distance of each other: one has the given length, the other one between two bounds. */
function leastCosine(distance: number, length: number, shortest: number, longest: number): number {
  const rest = length ** 2 - distance ** 2
  // By the law of cosines it is (l² + rest) / (2 l length), with its minimum at l² = rest.
  const other = Math.min(longest, Math.max(shortest, Math.sqrt(Math.max(0, rest))))
  return (other + rest / other) / (2 * length)
}
