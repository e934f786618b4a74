import type { BinaryCase } from './binary-case.ts'
import image from './image.bench.ts'
import uploads from './uploads.bench.ts'
import vectorNearest from './vector-nearest.bench.ts'

export const BINARY_CASES: readonly BinaryCase[] = [image, uploads, vectorNearest]
